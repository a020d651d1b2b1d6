chan queue = [8] of { byte };
active proctype system() {
  do
  :: queue!0
  :: queue!1
  :: queue!2
  :: queue!3
  :: queue?_
  od
}
