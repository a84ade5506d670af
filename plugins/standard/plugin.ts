import { UsageError } from 'model-gateway/plugin'
import project from '../../package.json' with { type: 'json' }
import { runNewPlugin } from '../plugin-kit/new-command.ts'

/** `gateway plugin …`; resolves to its exit code. */
export async function runPlugin(args: readonly string[]): Promise<number> {
  try {
    runNewPlugin({
      args,
      cwd: process.cwd(),
      versions: {
        gateway: project.version,
        typescript: project.devDependencies.typescript,
        bunTypes: project.devDependencies['@types/bun'],
      },
      out: (line) => void process.stdout.write(`${line}\n`),
    })
    return 0
  } catch (error) {
    process.stderr.write(`gateway: ${error instanceof Error ? error.message : String(error)}\n`)
    return error instanceof UsageError ? 2 : 1
  }
}
