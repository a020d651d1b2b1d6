chan queue = [8] of { byte };
active proctype run() {
  do
  :: nfull(queue) -> queue!0
  :: nfull(queue) -> queue!1
  :: nfull(queue) -> queue!2
  :: nfull(queue) -> queue!3
  :: nempty(queue) -> queue?_
  od
}
