import { type Replaced, runGateway } from '../../plugins/standard/cli.ts'
import { createTestDatabase } from './database.ts'

export interface CommandOptions {
  /** The working folder of the command. */
  readonly cwd: string
  /** All its environment variables. */
  readonly env?: Replaced['env']
}

/**
 * Runs a `gateway` command in this process, which saves the second of CPU time that a process takes to
 * load the gateway. An embedded database that the command starts is a database of the test server. Use
 * a process for what main.ts, signals or the logger do: log lines are not part of `err`.
 */
export async function runCommand(args: readonly string[], { cwd, env = {} }: CommandOptions) {
  const out: string[] = []
  const err: string[] = []
  const { stderr } = process
  const { write } = stderr
  const folder = process.cwd()
  process.chdir(cwd)
  stderr.write = ((text: string) => err.push(text) > 0) as typeof stderr.write
  try {
    const code = await runGateway(args, {
      env,
      out: (line) => out.push(`${line}\n`),
      async startDatabase() {
        const { url, drop } = await createTestDatabase('started')
        return { url, stop: drop }
      },
    })
    return { code, out: out.join(''), err: err.join('') }
  } finally {
    stderr.write = write
    process.chdir(folder)
  }
}
