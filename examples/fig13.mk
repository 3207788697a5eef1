# The checkers endgame databases of 3 and 4 pieces, one rule for each slice: the whole of what TrellisDAG's Fig. 13 begins.

all: 0022 0031

2100:
	mqsub -deps "" -l "2100" -c "2100.sh"
1110: 2100
	mqsub -deps "2100" -l "1110" -c "1110.sh"
2001: 2100
	mqsub -deps "2100" -l "2001" -c "2001.sh"
0120: 1110
	mqsub -deps "1110" -l "0120" -c "0120.sh"
1011: 1110 2001
	mqsub -deps "1110 2001" -l "1011" -c "1011.sh"
0021: 0120 1011
	mqsub -deps "0120 1011" -l "0021" -c "0021.sh"
2200: 2100
	mqsub -deps "2100" -l "2200" -c "2200.sh"
1210: 1110 2001 2200
	mqsub -deps "1110 2001 2200" -l "1210" -c "1210.sh"
0220: 0120 1210
	mqsub -deps "0120 1210" -l "0220" -c "0220.sh"
1111: 1210 1011
	mqsub -deps "1210 1011" -l "1111" -c "1111.sh"
0121: 0021 0220 1111
	mqsub -deps "0021 0220 1111" -l "0121" -c "0121.sh"
0022: 0121
	mqsub -deps "0121" -l "0022" -c "0022.sh"
3100: 2100
	mqsub -deps "2100" -l "3100" -c "3100.sh"
2110: 1110 3100
	mqsub -deps "1110 3100" -l "2110" -c "2110.sh"
3001: 2001 3100
	mqsub -deps "2001 3100" -l "3001" -c "3001.sh"
1120: 0120 2110
	mqsub -deps "0120 2110" -l "1120" -c "1120.sh"
2011: 1011 2110 3001
	mqsub -deps "1011 2110 3001" -l "2011" -c "2011.sh"
0130: 1120
	mqsub -deps "1120" -l "0130" -c "0130.sh"
1021: 0021 1120 2011
	mqsub -deps "0021 1120 2011" -l "1021" -c "1021.sh"
0031: 0130 1021
	mqsub -deps "0130 1021" -l "0031" -c "0031.sh"
