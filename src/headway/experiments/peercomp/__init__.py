"""The evaluation of peercomp.txt done again, message by message, at sizes that this simulator can hold."""
