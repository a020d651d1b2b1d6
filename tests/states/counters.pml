byte a = 0, b = 0, c = 0;
active proctype system() {
  do
  :: a = (a < 47 -> a + 1 : 0)
  :: b = (b < a -> b + 1 : 0)
  :: atomic { (a + b != 47) -> c = (c + 1) % 48 }
  od
}
