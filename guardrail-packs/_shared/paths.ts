/** A path with `.`, `..` and doubled slashes resolved as text; relative paths stay relative. */
export function normalisePath(path: string): string {
  const absolute = path.startsWith('/')
  const kept: string[] = []
  for (const step of path.split('/')) {
    if (step === '' || step === '.') continue
    if (step === '..' && kept.length > 0 && kept.at(-1) !== '..') kept.pop()
    else if (step !== '..' || !absolute) kept.push(step)
  }
  return (absolute ? '/' : '') + kept.join('/')
}

const harmlessDevices =
  /^(null|zero|full|random|urandom|stdin|stdout|stderr|console|ptmx|log|kmsg|tty\w*|tcp|udp|fd|pts|shm|mqueue)(\/|$)/

/** A device that holds data: `/dev/sda1`, `/dev/mapper/root`, `/dev/$disk`. */
export function isDataDevice(path: string): boolean {
  if (!path.includes('dev/')) return false
  const plain = normalisePath(path)
  if (!plain.startsWith('/dev/')) return false
  return !harmlessDevices.test(plain.slice(5))
}
