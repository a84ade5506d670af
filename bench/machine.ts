import { readdirSync, readFileSync } from 'node:fs'

/** Clock ticks in which Linux tells CPU time: 100 a second on every architecture. */
const MICROS_PER_TICK = 10_000

/** CPU time of these processes up to now, user and system, in microseconds. */
export function cpuMicros(pids: readonly number[]): number {
  return pids.reduce((sum, pid) => sum + ticksOf(statOf(`${pid}`).fields), 0) * MICROS_PER_TICK
}

/**
 * CPU time of a process's living threads up to now, in microseconds: to the nanosecond, where the clock
 * ticks are too coarse.
 */
export function exactCpuMicros(pid: number): number {
  let nanos = 0
  for (const thread of readdirSync(`/proc/${pid}/task`)) {
    const [ran] = readFileSync(`/proc/${pid}/task/${thread}/schedstat`, 'latin1').split(' ', 1)
    nanos += Number(ran)
  }
  return nanos / 1000
}

/** CPU time of a process's threads up to now, in microseconds; those of one name together. */
export function threadMicros(pid: number): ReadonlyMap<string, number> {
  const micros = new Map<string, number>()
  for (const thread of readdirSync(`/proc/${pid}/task`)) {
    const { name, fields } = statOf(`${pid}/task/${thread}`)
    micros.set(name, (micros.get(name) ?? 0) + ticksOf(fields) * MICROS_PER_TICK)
  }
  return micros
}

/** The parent of a process and all its children: a Postgres server, seen from one of its backends. */
export function familyOf(pid: number): readonly number[] {
  const parentOf = (process: string) => Number(statOf(process).fields[1])
  const parent = parentOf(`${pid}`)
  const family = [parent]
  for (const name of readdirSync('/proc')) {
    if (!/^\d+$/.test(name)) continue
    try {
      if (parentOf(name) === parent) family.push(Number(name))
    } catch {
      // It has ended meanwhile.
    }
  }
  return family
}

/** `/proc/…/stat`: the name, and the fields that follow it, the state first. */
function statOf(process: string): { readonly name: string; readonly fields: readonly string[] } {
  const text = readFileSync(`/proc/${process}/stat`, 'latin1')
  const end = text.lastIndexOf(')')
  return { name: text.slice(text.indexOf('(') + 1, end), fields: text.slice(end + 2).split(' ') }
}

function ticksOf(fields: readonly string[]): number {
  return Number(fields[11]) + Number(fields[12])
}

export interface Service {
  readonly pid: number
  readonly url: string
  stop(): Promise<void>
}

/** Starts one of this folder's servers; it writes its port as its first line, and ends with us. */
export async function startService(file: string, ...args: readonly string[]): Promise<Service> {
  const path = new URL(file, import.meta.url).pathname
  const child = Bun.spawn([process.execPath, path, ...args], {
    stdin: 'pipe',
    stdout: 'pipe',
    stderr: 'inherit',
  })
  const { value } = await child.stdout.getReader().read()
  const port = Number(new TextDecoder().decode(value))
  if (!(port > 0)) throw new Error(`${file} did not start`)
  return {
    pid: child.pid,
    url: `http://127.0.0.1:${port}`,
    async stop() {
      child.kill('SIGKILL')
      await child.exited
    },
  }
}

/** Tells who started this server where it is, and ends it when they have ended. */
export async function serveUntilOrphaned(port: number | undefined): Promise<never> {
  console.log(port)
  for await (const _ of Bun.stdin.stream());
  process.exit()
}

/** Resolves when something answers on the URL, whatever it answers. */
export async function untilItAnswers(url: string): Promise<void> {
  const deadline = performance.now() + 10_000
  for (;;) {
    try {
      await fetch(url)
      return
    } catch (error) {
      if (performance.now() > deadline) throw error
      await Bun.sleep(50)
    }
  }
}

export function freePort(): number {
  const server = Bun.listen({ hostname: '127.0.0.1', port: 0, socket: { data() {} } })
  const { port } = server
  server.stop(true)
  return port
}
