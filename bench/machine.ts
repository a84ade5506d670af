import { readdirSync, readFileSync } from 'node:fs'
import { childrenOf, parentOf } from '../test/harness/process-tree.ts'

/**
 * Counts the CPU time of a process from now on, user and system: what it returns gives it in
 * microseconds. What a thread takes that ends meanwhile is not known.
 */
export function cpuClock(pid: number): () => number {
  const before = new Map(threads(pid).map((thread) => [thread, ranMicros(thread)]))
  return () =>
    threads(pid).reduce((sum, thread) => {
      return sum + Math.max(0, ranMicros(thread) - (before.get(thread) ?? 0))
    }, 0)
}

/** CPU time of a process's threads up to now, in microseconds; those of one name together. */
export function threadMicros(pid: number): ReadonlyMap<string, number> {
  const micros = new Map<string, number>()
  for (const thread of threads(pid)) {
    const name = readFileSync(`${thread}/comm`, 'utf8').trim()
    micros.set(name, (micros.get(name) ?? 0) + ranMicros(thread))
  }
  return micros
}

/** None of a process that has ended, as workers of a database do. */
function threads(pid: number): readonly string[] {
  const folder = `/proc/${pid}/task`
  try {
    return readdirSync(folder).map((thread) => `${folder}/${thread}`)
  } catch {
    return []
  }
}

/** To the nanosecond, as the scheduler knows it; `stat` counts ticks of 10 ms. */
function ranMicros(thread: string): number {
  try {
    const [nanos] = readFileSync(`${thread}/schedstat`, 'latin1').split(' ', 1)
    return Number(nanos) / 1000
  } catch {
    // It has ended meanwhile.
    return 0
  }
}

/** The most memory that a process has had so far. */
export function peakMiB(pid: number): number {
  const status = readFileSync(`/proc/${pid}/status`, 'latin1')
  return Number(/^VmHWM:\s*(\d+) kB$/m.exec(status)?.[1]) / 1024
}

/** The parent of a process and all its children: a Postgres server, seen from one of its backends. */
export function familyOf(pid: number): readonly number[] {
  const parent = parentOf(pid)
  return [parent, ...childrenOf(parent)]
}

/**
 * Lets processes with all their threads run on these processors only: `0`, `1-3`. False when the
 * machine has no means to do that.
 */
export function confine(pids: readonly number[], processors: string): boolean {
  const taskset = Bun.which('taskset')
  if (taskset === null) return false
  return pids.every((pid) => {
    const command = [taskset, '--all-tasks', '--pid', '--cpu-list', processors, String(pid)]
    return Bun.spawnSync(command).success || threads(pid).length === 0
  })
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
  child.unref()
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
