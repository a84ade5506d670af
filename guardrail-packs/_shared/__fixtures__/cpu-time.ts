/** Milliseconds that the process computed: what other processes do meanwhile does not count. */
export function cpuMs(run: () => void): number {
  const before = process.cpuUsage()
  run()
  const { user, system } = process.cpuUsage(before)
  return (user + system) / 1000
}
