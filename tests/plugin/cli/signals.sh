# The command ends by the signal that it gets, and has a handler that removes what is temporary.
. "$(dirname "$0")/checks.sh"

mkfifo list
for signal in HUP INT QUIT TERM XCPU; do
  # In the background of a script, bash lets SIGINT and SIGQUIT be ignored.
  env --default-signal=INT,QUIT "$FUNCATTN" run - "${operator[@]}" <list 2>errors &
  command=$!
  exec 3>list
  number=$(kill -l "$signal")
  caught=no
  for _ in $(seq 200); do
    mask=$(awk '/^SigCgt/ {print $2}' "/proc/$command/status")
    if (((0x$mask >> (number - 1)) & 1)); then caught=yes && break; fi
    sleep 0.05
  done
  [ "$caught" = yes ] || fail "SIG$signal is not handled"
  kill "-$signal" "$command"
  found=0
  wait "$command" || found=$?
  exec 3>&-
  [ "$found" = $((128 + number)) ] || fail "exit status $found after SIG$signal"
done

# Under nohup the command goes on.
(trap '' HUP; "$FUNCATTN" run - "${operator[@]}" --threads 1 <list >results 2>errors) &
command=$!
exec 3>list
for _ in $(seq 200); do
  [ -d "/proc/$command" ] && child=$(cat "/proc/$command/task/$command/children") && [ -n "$child" ] && break
  sleep 0.05
done
kill -HUP $child
echo "$grid" >&3
exec 3>&-
wait "$command" || fail "exit status $? after an ignored SIGHUP"
expect_file grid_predicted.vtu
