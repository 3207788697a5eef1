"""The evaluation of batchqueue.txt, done again."""
