import { readdirSync, readFileSync } from 'node:fs'

/** Throws when the process has ended. */
export function parentOf(pid: number): number {
  // `pid (name) state ppid …`; the name may hold anything but is closed by the last bracket.
  const stat = readFileSync(`/proc/${pid}/stat`, 'latin1')
  return Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1])
}

export function childrenOf(parent: number): readonly number[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .filter((pid) => {
      try {
        return parentOf(pid) === parent
      } catch {
        // It has ended meanwhile.
        return false
      }
    })
}

/** What a process holds in memory now, or has held at most, in megabytes. Linux only. */
export function memoryMb(pid: number, which: 'now' | 'peak' = 'now'): number {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8')
  const line = which === 'now' ? /VmRSS:\s+(\d+)/ : /VmHWM:\s+(\d+)/
  return Number(line.exec(status)?.[1]) / 1024
}
