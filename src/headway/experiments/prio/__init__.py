"""The evaluation of "A Tool for Prioritizing DAGMan Jobs and Its Evaluation" (prio.txt), done again."""
