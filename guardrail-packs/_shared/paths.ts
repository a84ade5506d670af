/** Resolves `.`, `..` and doubled slashes in a path as text; relative paths stay relative. */
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

/** Where the last part of a path begins: after its last slash outside expansions. */
export function lastStep(path: string): number {
  if (!/[$`]/.test(path)) return path.lastIndexOf('/') + 1
  let step = 0
  let ticks = false
  const open: string[] = []
  for (let at = 0; at < path.length; at++) {
    const c = path.charAt(at)
    const next = path.charAt(at + 1)
    if (c === '`') ticks = !ticks
    else if (c === '$' && (next === '{' || next === '(')) {
      open.push(next === '{' ? '}' : ')')
      at++
    } else if (c === '(' && open.length > 0) open.push(')')
    else if (c === open.at(-1)) open.pop()
    else if (c === '/' && open.length === 0 && !ticks) step = at + 1
  }
  return step
}

const home = /^(~[\w-]*|\$\{?HOME\}?|\/root|\/home\/[^/]+|\/Users\/[^/]+)\//
const startUp =
  /^\.(bashrc|bash_profile|bash_login|bash_logout|bash_aliases|profile|zshrc|zshenv|zprofile|zlogin|zlogout|kshrc|mkshrc|cshrc|tcshrc|login|xinitrc|xprofile|config\/fish\/config\.fish)$/

/** System directories, without `/usr/local` and language packages. */
const systemFiles =
  /^\/(?:boot|s?bin|lib(?:32|64)?|usr\/(?:s?bin|lib(?:32|64)?(?!\/(?:node_modules|python))|libexec)|var\/spool\/cron|System|Library\/Launch\w+)(?:\/|$)/

/** System settings and programs, keys, and start-up files of shells. */
export function isProtected(path: string): boolean {
  if (!/(?:^|\/)\.[a-z]|^\//.test(path)) return false
  const plain = normalisePath(path)
  if (/^(\/private)?\/etc(\/|$)/.test(plain) || systemFiles.test(plain)) return true
  const inHome = plain.replace(home, '')
  const bare = inHome !== plain || !plain.includes('/') || plain.startsWith('.')
  return bare && (/^\.ssh(\/|$)/.test(inHome) || startUp.test(inHome))
}
