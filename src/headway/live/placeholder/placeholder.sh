#!/bin/sh
# placeholder.sh: takes jobs from a Headway store and runs them, on a host that has neither Headway nor Python.
# It needs sh and the services mqnextjob, mqgetjobattribute and mqdonejob, here or over ssh.
set -u

usage() {
    cat <<'USAGE'
Usage: placeholder.sh [OPTION]...

Take jobs of the workflows that were submitted to a store (headway submit), and run them here, one after the other.
Leave when nothing is left to do.

  -s SERVER    the host, as ssh knows it, on which the services are called; without it, they are called here
  -S COMMAND   the ssh command; default: ssh -o BatchMode=yes -o ConnectTimeout=10 -o ServerAliveInterval=15
  -b FOLDER    the folder of the services there, if they are not on its PATH
  -p PLACE     the store; without it, HEADWAY_STORE or headway.toml there says which
  -d FOLDER    run jobs in this folder; without it, in that of their workflow, which must be here under the same path
  -l FOLDER    where logs and ends are kept; default: ${XDG_STATE_HOME:-$HOME/.local/state}/headway/placeholder.sh
  -c CORES     cores for each job; default: 1
  -m SIZE      memory for each job, such as 4G; default: not looked at
  -t SECONDS   how long this placeholder may stay: it takes no job that cannot be expected to end in that time
  -u SECONDS   with -t: how long a job is expected to take of which nothing is known; default: 0
  -n SITE      the name of the site that this is, for workflows submitted to one site
  -1           one job, and leave
  -r COMMAND   one job, and run this command to be submitted again, unless nothing is left to do
  -e           leave also when there is nothing to do just now
  -w SECONDS   the longest time between two questions for a job; default: 30
  -k SECONDS   how often to ask whether a running job is to end; 0: never; default: 60
  -q SCHED     the queue that this runs in: slurm, gridengine, htcondor, process, none; default: found out (htcondor: say it)
  -i ID        what this is called there; default: found out
  -H HOST      where that queue can be asked; default: found out

Exits 0 when it leaves; 1 if it cannot go on, and says why; 2 for bad usage. SIGTERM and SIGINT end the running job,
which is given back. Killed, it loses nothing: its job goes on, and the next placeholder.sh here tells how it ended.
USAGE
}

say() {
    echo "placeholder.sh: $*" >&2
}

quoted() { # a word as sh reads it back
    printf "'%s'" "$(printf %s "$1" | sed "s/'/'\\\\''/g")"
}

seconds() { # TEXT: the number that it is, as arithmetic reads it: without zeros in front
    case $1 in
    '' | *[!0-9]* | ??????????*)
        say "'$1' is no number of seconds."
        exit 2
        ;;
    esac
    number=${1#"${1%%[!0]*}"}
    number=${number:-0}
}

# --- options ----------------------------------------------------------------------------------------------------------

server='' ssh='ssh -o BatchMode=yes -o ConnectTimeout=10 -o ServerAliveInterval=15' services='' store='' folder=''
base=${XDG_STATE_HOME:-${HOME:+$HOME/.local/state}}
base=${base:+$base/headway/placeholder.sh}
cores='' memory='' stays='' unknown='' site='' single='' resubmit='' leaves='' longest=30 looks=60
sched='' sched_id='' submit_host=''
while getopts s:S:b:p:d:l:c:m:t:u:n:1r:ew:k:q:i:H:h option; do
    case $option in
    s) server=$OPTARG ;;
    S) ssh=$OPTARG ;;
    b) services=${OPTARG%/}/ ;;
    p) store=$OPTARG ;;
    d) folder=$OPTARG ;;
    l) base=$OPTARG ;;
    c) cores=$OPTARG ;;
    m) memory=$OPTARG ;;
    t) seconds "$OPTARG" && stays=$number ;;
    u) seconds "$OPTARG" && unknown=$number ;;
    n) site=$OPTARG ;;
    1) single=yes ;;
    r) single=yes resubmit=$OPTARG ;;
    e) leaves=yes ;;
    w) seconds "$OPTARG" && longest=$number ;;
    k) seconds "$OPTARG" && looks=$number ;;
    q) sched=$OPTARG ;;
    i) sched_id=$OPTARG ;;
    H) submit_host=$OPTARG ;;
    h)
        usage
        exit 0
        ;;
    *)
        usage >&2
        exit 2
        ;;
    esac
done
shift $((OPTIND - 1))
[ $# = 0 ] || {
    say "there is nothing that $1 could mean. placeholder.sh -h shows the options."
    exit 2
}
[ "$longest" != 0 ] || longest=1
[ -n "$base" ] || {
    say "neither HOME nor XDG_STATE_HOME is set. Say with -l in which folder logs and ends are kept."
    exit 2
}

host=$(hostname 2>/dev/null || uname -n)
began=$(date +%s)
mark="$host-$$-$began"
machine=$(cut -c1-12 /etc/machine-id 2>/dev/null) # hosts have the same name now and then
case $machine in *[!0-9a-f]*) machine='' ;; esac # "uninitialized", as images have it
[ -z "$machine" ] || mark="$mark+${machine}_$(id -u 2>/dev/null)"
case $(date +%s.%N) in # most know parts of a second
*[!0-9.]* | *.) clock=+%s ;;
*) clock=+%s.%N ;;
esac
HEADWAY_PLACEHOLDER=$mark # all that is started here has it, which is how a host without a queue is asked for us
export HEADWAY_PLACEHOLDER
if [ -z "$sched" ]; then
    if [ -n "${SLURM_JOB_ID:-}" ]; then
        sched=slurm sched_id=${sched_id:-$SLURM_JOB_ID} submit_host=${submit_host:-${SLURM_SUBMIT_HOST:-}}
    elif [ -n "${JOB_ID:-}" ] && [ -n "${SGE_TASK_ID:-}" ]; then
        sched=gridengine sched_id=${sched_id:-$JOB_ID} submit_host=${submit_host:-${SGE_O_HOST:-}}
    else
        sched=process
    fi
fi
[ "$sched" != process ] || sched_id=$mark
sched_id=${sched_id:-$mark}
submit_host=${submit_host:-$host}
[ -z "$folder" ] || {
    HEADWAY_FOLDER=$folder
    export HEADWAY_FOLDER
}

# Apart for each store, and each host that shares this folder.
place=$store
[ -n "$server" ] || place=${store:-${HEADWAY_STORE:-$PWD}}
case $server$place in
/* | *://*) ;;
*) [ -n "$server" ] || place=$PWD/$place ;;
esac
own=$(printf '%s %s %s' "$server" "$place" "$machine" | { cksum || md5sum; } 2>/dev/null)
[ -n "$own" ] || {
    say "this host has neither cksum nor md5sum."
    exit 1
}
own="$base/$host-${own%% *}"
(umask 077 && mkdir -p "$own/jobs" "$own/logs") || {
    say "$own cannot be made. Choose another folder with -l."
    exit 1
}
said="$own/said-$$" looked="$own/said-looked-$$"

# --- services ---------------------------------------------------------------------------------------------------------

call() { # SERVICE KEY=VALUE...: a service, once; standard input is its own
    if [ -z "$server" ]; then
        name=$1
        shift
        "$services$name" "$@" ${store:+"store=$store"}
        return
    fi
    line=$(quoted "$services$1")
    shift
    for word in "$@" ${store:+"store=$store"}; do
        line="$line $(quoted "$word")"
    done
    # shellcheck disable=SC2086  # the command is several words
    $ssh "$server" "$line"
}

no_store() { # CODE FILE: whether a service that ended so, and said so, has found no store: it tells nothing of a job
    [ "$1" = 4 ] && grep -q 'there is no store' "$2" 2>/dev/null
}

stopping=''
ask() { # [-i FILE] SERVICE KEY=VALUE...: a service, again and again until it answers. What it prints is in $answer.
    input=/dev/null
    if [ "$1" = -i ]; then
        input=$2
        shift 2
    fi
    pause=1 missing=0
    while :; do
        answer=$(call "$@" <"$input" 2>"$said")
        code=$?
        [ "$1" = mqnextjob ] || ! no_store $code "$said" || code=127
        case $code in
        0 | 10 | 11) return $code ;;
        2 | 4)
            [ "$1" = mqnextjob ] || say "$(cat "$said")"
            return $code
            ;;
        126 | 127) # the service is not there; perhaps its folder is away for a moment
            missing=$((missing + 1))
            [ $missing -lt 5 ] || {
                [ "$1" = mqnextjob ] || say "$1 is not called any more: $(tail -n 1 "$said")"
                return $code
            }
            ;;
        esac
        [ $pause -gt 1 ] || say "$1 has failed, and is called again until it answers: $(tail -n 1 "$said")"
        [ -z "$stopping" ] || { [ "$1" != mqnextjob ] && [ $pause -lt 8 ]; } || return 255
        rest $pause
        [ $pause -ge 60 ] || pause=$((pause * 2))
    done
}

rest() { # SECONDS: waits so long, or until a signal comes
    sleep "$1" &
    sleeper=$!
    wait $sleeper
    kill $sleeper 2>/dev/null
    wait $sleeper 2>/dev/null
}

# --- what ended -------------------------------------------------------------------------------------------------------

is_there() { # PID: whether a process runs; one that nobody has waited for does not
    kill -0 "$1" 2>/dev/null && ! grep -q ") Z " "/proc/$1/stat" 2>/dev/null
}

start_of() { # PID: when a process began, which tells it from a later one of the same number; nothing without /proc
    sed 's/.*) //' "/proc/$1/stat" 2>/dev/null | cut -d' ' -f20
}

marked() { # ID: the processes of this job, wherever they have gone; without Linux's /proc the one that watches it
    if [ ! -r /proc/self/environ ]; then
        ps -A -o pid= -o args= 2>/dev/null | sed -n "s/^ *\([0-9][0-9]*\) sh -c .* $1 .*/\1/p"
        return
    fi
    if [ -n "$has_z" ]; then
        grep -lzxF "HEADWAY_LEASE=$1" /proc/[0-9]*/environ 2>/dev/null | cut -d/ -f3
        return
    fi
    for process in /proc/[0-9]*; do
        tr '\0' '\n' <"$process/environ" 2>/dev/null | grep -qxF "HEADWAY_LEASE=$1" && echo "${process#/proc/}"
    done
}
# Most have grep -z, which is a hundred times as quick.
if printf 'a\0b' | grep -qzx b 2>/dev/null; then has_z=yes; else has_z=''; fi

runs_on() { # ID: whether a job runs though its placeholder does not; where that cannot be known, it does
    if [ -r /proc/self/environ ] || ps -A -o pid= >/dev/null 2>&1; then
        [ -n "$(marked "$1")" ]
    fi
}

forget() { # ID: its end is known
    rm -f "$own/jobs/$1.run" "$own/jobs/$1.sh" "$own/jobs/$1.end" "$own/jobs/$1.part"
    [ -s "$own/logs/$1.log" ] || rm -f "$own/logs/$1.log"
}

tell_end() { # ID: tells how a job ended; 0 if that is known now
    read -r status started ended cpu <"$own/jobs/$1.end" || return 0 # another placeholder has told it
    case $cpu in
    *[!0-9ms.\ ]* | [!0-9]*) cpu='' ;;
    [0-9]*m*.*s\ [0-9]*m*.*s) ;;
    *) cpu='' ;;
    esac
    tail -c 2048 "$own/logs/$1.log" >"$own/tail-$$" 2>/dev/null || : >"$own/tail-$$"
    ask -i "$own/tail-$$" mqdonejob "id=$1" "exit_code=$status" "started=$started" "ended=$ended" "now=$(date "$clock")" \
        ${cpu:+"cpu_seconds=$cpu"} tail=-
    told=$?
    rm -f "$own/tail-$$"
    case $told in
    0 | 4) forget "$1" ;; # 4: somebody else has the job
    *) return 1 ;;
    esac
}

give_back() { # ID REASON: a job did not run to its end
    ask mqdonejob "id=$1" "back=$2"
    case $? in
    0 | 4) forget "$1" ;;
    esac
}

tell_earlier() { # what placeholders before this one have left: ends that nobody has told, jobs that nobody runs
    for file in "$own"/said-* "$own"/tail-*; do
        [ ! -e "$file" ] || is_there "${file##*-}" || rm -f "$file"
    done
    for file in "$own"/jobs/*.run; do
        [ -e "$file" ] || continue
        id=${file##*/} id=${id%.run}
        read -r pid start <"$file" || continue
        is_there "$pid" && { [ -z "$start" ] || [ "$start" = "$(start_of "$pid")" ]; } && continue
        if [ ! -e "$own/jobs/$id.end" ]; then
            ! runs_on "$id" || continue
            if [ ! -e "$own/jobs/$id.end" ]; then
                give_back "$id" "its placeholder was killed"
                continue
            fi
        fi
        tell_end "$id"
    done
}

# --- a job ------------------------------------------------------------------------------------------------------------

# Runs the job, and writes down how it ended: that must be there even if nobody waits for it. It is written over a line
# that was there before the job began, since the job may have filled the disk. So is the CPU time of all that was waited
# for, first: a shell tells that about itself only, in a second line.
# shellcheck disable=SC2016  # it is another shell that reads these
runs='
began=$(date "$3")
sh "$1/jobs/$2.sh" >"$1/logs/$2.log" 2>&1 </dev/null
status=$?
ended=$(date "$3")
times 2>/dev/null 1<>"$1/jobs/$2.part"
{ read -r _; read -r user system _; } <"$1/jobs/$2.part"
echo "$status $began $ended $user $system" 1<>"$1/jobs/$2.part" && mv "$1/jobs/$2.part" "$1/jobs/$2.end" || exit 1
'
if command -v setsid >/dev/null 2>&1; then own_session=setsid; else own_session=''; fi
job='' reason=''

end_job() { # ID: asks the running job to end, and ends it if it does not
    if [ -n "$own_session" ]; then target=-$job; else target=$job; fi
    kill -TERM -- "$target" 2>/dev/null
    for process in $(marked "$1"); do # what has left that session
        kill -TERM "$process" 2>/dev/null
    done
    for _ in 1 2 3 4 5; do
        [ -n "$(marked "$1")" ] || return
        sleep 1
    done
    for process in $(marked "$1"); do
        kill -KILL "$process" 2>/dev/null
    done
}

watch() { # ID: tells this placeholder when the job is to end
    trap 'kill $sleeper 2>/dev/null; exit 0' TERM
    while is_there $$; do
        sleep "$looks" &
        sleeper=$!
        wait $sleeper
        stop=$(call mqgetjobattribute "id=$1" attribute=stop </dev/null 2>"$looked")
        code=$?
        if no_store $code "$looked"; then
            continue
        elif [ $code = 4 ] || { [ $code = 0 ] && [ -n "$stop" ]; }; then
            kill -ALRM $$
            return
        fi
    done
}

was_ended() { # ID: whether the job was killed because this placeholder is to end, or the job is
    read -r status _ <"$own/jobs/$1.end" || return 1
    [ "$status" -gt 128 ] || return 1
    [ -n "$stopping$reason" ] || rest 2 # queues send signals to everybody: ours may be on its way
    [ -n "$stopping$reason" ]
}

no_room() { # ID: its files cannot be written
    give_back "$1" "no file can be written in $own on $host"
    say "no file can be written in $own: its disk is full, or it may only be read. Choose another folder with -l."
}

run_job() { # ID
    if [ -n "$stopping" ]; then # while it was asked for
        give_back "$1" "its placeholder was told to end"
        return
    fi
    ask mqgetjobattribute "id=$1" attribute=script
    code=$?
    [ $code != 4 ] || return 0
    [ $code = 0 ] || return 1
    (umask 077 && printf '%s\n' "$answer" >"$own/jobs/$1.sh" && printf '%160s\n' '' >"$own/jobs/$1.part" &&
        echo "$$ $(start_of $$)" >"$own/jobs/$1.run") || {
        no_room "$1"
        return 1
    }
    reason=''
    HEADWAY_LEASE=$1 $own_session sh -c "$runs" sh "$own" "$1" "$clock" </dev/null >/dev/null 2>&1 &
    job=$!
    watcher=''
    if [ "$looks" != 0 ]; then
        watch "$1" </dev/null >/dev/null 2>&1 &
        watcher=$!
    fi
    code=0
    while kill -0 "$job" 2>/dev/null; do
        if [ -n "$stopping$reason" ]; then
            end_job "$1"
            wait "$job"
            break
        fi
        wait "$job"
        code=$?
    done
    if [ -n "$watcher" ]; then
        kill "$watcher" 2>/dev/null
        wait "$watcher"
    fi
    if [ -e "$own/jobs/$1.end" ] && ! was_ended "$1"; then
        tell_end "$1"
    elif [ -n "$reason$stopping" ]; then
        give_back "$1" "${reason:-its placeholder was told to end}"
    elif [ "$code" = 1 ]; then # the end could not be written down
        no_room "$1"
        return 1
    else # what was to write the end down was killed
        give_back "$1" "lost: somebody has killed it and what watched it"
    fi
}

trap 'stopping=yes' TERM INT HUP USR2 XCPU
trap 'reason=stopped' ALRM

# --- one job after the other ------------------------------------------------------------------------------------------

next_job() {
    left=''
    if [ -n "$stays" ]; then
        left=$((stays - ($(date +%s) - began)))
        [ $left -gt 0 ] || return 11
    fi
    ask mqnextjob "sched=$sched" "sched_id=$sched_id" "submit_host=$submit_host" "host=$host" "slot=$$" "home=$own/logs" \
        ${cores:+"cores=$cores"} ${memory:+"memory=$memory"} ${left:+"time=$left"} \
        ${unknown:+"unknown=$unknown"} ${site:+"site=$site"}
}

leave() { # CODE
    rm -f "$said" "$looked"
    exit "$1"
}

pause=1
while [ -z "$stopping" ]; do
    tell_earlier
    next_job
    next=$?
    case $next in
    0)
        pause=1
        case $answer in
        *[!A-Za-z0-9.]*)
            say "mqnextjob has printed more than an id: $(printf '%s\n' "$answer" | sed -n 1p)"
            say "What does the shell${server:+ on $server} print by itself? It must be silent if no terminal is there."
            leave 1
            ;;
        esac
        run_job "$answer" || leave 1
        [ -z "$single" ] || break
        ;;
    10)
        [ -z "$single$leaves" ] || break
        rest "$pause"
        pause=$((pause * 2))
        [ $pause -le "$longest" ] || pause=$longest
        ;;
    11) leave 0 ;;
    255) [ -n "$stopping" ] || leave 1 ;;
    126 | 127)
        say "$(cat "$said")"
        say "mqnextjob cannot be called${server:+ on $server}. Say with -b in which folder the services are there."
        leave 1
        ;;
    *)
        say "$(cat "$said")"
        leave 1
        ;;
    esac
done
if [ -n "$resubmit" ] && [ -z "$stopping" ]; then
    [ "$next" = 0 ] || rest "$longest" # the queue need not be asked more often than the store
    sh -c "$resubmit" || {
        say "it could not be submitted again: $resubmit"
        leave 1
    }
fi
leave 0
