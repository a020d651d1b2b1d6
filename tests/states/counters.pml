int a = 0, b = 0, c = 0;
active proctype run() {
  do
  :: atomic { true -> a = (a < 47 -> a + 1 : 0) }
  :: atomic { true -> b = (b < a -> b + 1 : 0) }
  :: atomic { (a + b != 47) -> c = (c + 1) % 48 }
  od
}
