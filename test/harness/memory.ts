import { readFileSync } from 'node:fs'

/** What a process holds in memory now, or has held at most, in megabytes. Linux only. */
export function memoryMb(pid: number, which: 'now' | 'peak' = 'now'): number {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8')
  const line = which === 'now' ? /VmRSS:\s+(\d+)/ : /VmHWM:\s+(\d+)/
  return Number(line.exec(status)?.[1]) / 1024
}
