"""The one program of all random DAGs, whose runs and scripts can be compared."""

# act KIND NODE PROCESS PLAN [WORD]…: the plan has a part for each process ("%"), and in it an item for each run (",";
# the last one stays): an exit code, k (ended by a signal) or z (sleeps until it is ended), and after ":" what it waits
# for, in which @ is the number of the run.
ACT = """\
#!/bin/sh
kind=$1 node=$2 process=$3 plan=$4; shift 4
me="$kind/$node/$process" counter="count.$kind.$node.$process"
run=$(cat "$counter" 2>/dev/null || echo 0); echo $((run + 1)) > "$counter"
part=$(echo "$plan" | cut -d% -f$((process + 1)))
item=$(echo "$part" | cut -d, -f$((run + 1))); [ -n "$item" ] || item=${part##*,}
echo "$me start $run $*" >> trace
code=${item%%:*} waits=${item#"$code"}
for wait in $(echo "$waits" | tr : ' ' | sed "s/@/$run/g"); do
    tries=0
    until grep -q "^$wait\\( \\|$\\)" trace; do
        tries=$((tries + 1)); [ $tries -lt 1200 ] || { echo "$me waited in vain for $wait" >> trace; exit 99; }
        sleep 0.1
    done
    case $wait in *end*) sleep 2;; esac  # DAGMan must hear of that end first: it forgets a failure that is not the last
done
case $code in
z) exec sleep 150;;
k) echo "$me end $run k" >> trace; kill -9 $$;;
*) echo "$me end $run $code" >> trace; exit "$code";;
esac
"""
