"""The evaluation of peercomp.txt done again, message by message, and by the kernel at a million peers."""
