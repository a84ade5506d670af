import { readdirSync, readFileSync } from 'node:fs'
import { childrenOf, parentOf } from '../test/harness/process-tree.ts'

/**
 * Starts counting the CPU time of a process, user and system. Returns a function that returns it in
 * microseconds. The time of threads that end in between is not included.
 */
export function cpuClock(pid: number): () => number {
  const before = new Map(threads(pid).map((thread) => [thread, ranMicros(thread)]))
  return () =>
    threads(pid).reduce((sum, thread) => {
      return sum + Math.max(0, ranMicros(thread) - (before.get(thread) ?? 0))
    }, 0)
}

/** CPU time of the threads of a process up to now, in microseconds, summed by thread name. */
export function threadMicros(pid: number): ReadonlyMap<string, number> {
  const micros = new Map<string, number>()
  for (const thread of threads(pid)) {
    const name = readFileSync(`${thread}/comm`, 'utf8').trim()
    micros.set(name, (micros.get(name) ?? 0) + ranMicros(thread))
  }
  return micros
}

/** Empty for a process that has ended, as workers of a database do. */
function threads(pid: number): readonly string[] {
  const folder = `/proc/${pid}/task`
  try {
    return readdirSync(folder).map((thread) => `${folder}/${thread}`)
  } catch {
    return []
  }
}

/** From `schedstat`, which counts nanoseconds; `stat` counts ticks of 10 ms. */
function ranMicros(thread: string): number {
  try {
    const [nanos] = readFileSync(`${thread}/schedstat`, 'latin1').split(' ', 1)
    return Number(nanos) / 1000
  } catch {
    // The thread has ended.
    return 0
  }
}

/** Peak memory of a process. */
export function peakMiB(pid: number): number {
  const status = readFileSync(`/proc/${pid}/status`, 'latin1')
  return Number(/^VmHWM:\s*(\d+) kB$/m.exec(status)?.[1]) / 1024
}

/**
 * The parent of a process and all children of that parent: a Postgres server, given one of its
 * backends.
 */
export function familyOf(pid: number): readonly number[] {
  const parent = parentOf(pid)
  return [parent, ...childrenOf(parent)]
}

/**
 * Restricts processes and all their threads to these processors: `0`, `1-3`. Returns false when the
 * machine does not support it.
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

/**
 * Starts a server of this folder, which prints its port as the first line and ends with this
 * process.
 */
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

/**
 * Prints the port for the process that started this server, and exits when that process has ended.
 */
export async function serveUntilOrphaned(port: number | undefined): Promise<never> {
  console.log(port)
  for await (const _ of Bun.stdin.stream());
  process.exit()
}

/** Resolves when the URL answers, with any status. */
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
