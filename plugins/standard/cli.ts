import { parseArgs } from 'node:util'
import { UsageError } from 'model-gateway/plugin'
import { type BootOptions, VERSION } from '../../kernel/boot/assemble.ts'
import { operatorMessage, StartError } from '../../kernel/boot/errors.ts'
import { createLogger } from '../../kernel/boot/log.ts'
import type { KernelCommand } from '../../kernel/config/contributions.ts'
import { builtins, providedBy } from './builtins.ts'
import {
  checkConfigCommand,
  healthcheckCommand,
  helpCommand,
  migrateCommand,
  pluginCommand,
  Unanswered,
} from './commands.ts'
import { initCommand } from './init.ts'
import { openOutput } from './output.ts'
import { serveCommand } from './serve.ts'
import { tryCommand } from './try.ts'

/** Options of every command and every start. */
const distribution: Pick<BootOptions, 'builtins' | 'providedBy' | 'startDatabase'> = {
  builtins,
  providedBy,
  // Imported on demand, because a gateway with an external database does not need it.
  async startDatabase(options) {
    const { openEmbedded } = await import('../embedded-postgres/index.ts')
    return await openEmbedded(options)
  },
}

export interface Invocation extends Pick<BootOptions, keyof typeof distribution> {
  readonly args: readonly string[]
  readonly configFile: string | undefined
  readonly dataDir: string
  readonly env: Record<string, string | undefined>
  readonly out: (line: string) => void
}

const USAGE = `gateway: one HTTP gateway between callers and language-model providers

  gateway [serve]            migrate the database, then start the gateway
  gateway init [--force] [--print]
                             write gateway.yaml from the keys in the environment
  gateway try [PROVIDER[/MODEL] ...] [--images] [--api NAME]
                             make one cheap call with each API of a provider, or of all
  gateway check-config       report all problems in the config file
  gateway migrate [--check]  apply pending database migrations; --check only lists them
  gateway healthcheck        ask the running gateway; exit code 0 if it answers
  gateway help               print this text and the commands of the loaded plugins
  gateway version            print the version

  --config FILE    config file (GATEWAY_CONFIG; ./gateway.yaml; else generated from the
                   keys in the environment)
  --data-dir DIR   where the gateway keeps its files (GATEWAY_DATA_DIR; ./.gateway)`

const kernel: Readonly<Record<KernelCommand, (invocation: Invocation) => Promise<number>>> = {
  serve: serveCommand,
  'check-config': checkConfigCommand,
  migrate: migrateCommand,
  healthcheck: healthcheckCommand,
  help(invocation) {
    invocation.out(USAGE)
    return helpCommand(invocation)
  },
  version({ out }) {
    out(VERSION)
    return Promise.resolve(0)
  },
}
const commands = new Map([
  ...Object.entries(kernel),
  ['--version', kernel.version],
  ['init', initCommand],
  ['try', tryCommand],
])

/** What tests replace of the process and the distribution. */
export type Replaced = Partial<Pick<Invocation, 'env' | 'out' | 'startDatabase'>>

/** Runs one `gateway` command; resolves to its exit code. */
export async function runGateway(
  argv: readonly string[],
  replaced: Replaced = {},
): Promise<number> {
  const output = openOutput()
  let name = 'serve'
  try {
    const { words, configFile, dataDir } = readGlobalOptions(argv)
    name = words[0] ?? name
    const { env = process.env } = replaced
    const invocation: Invocation = {
      ...distribution,
      args: words.slice(1),
      configFile,
      dataDir: dataDir ?? (env.GATEWAY_DATA_DIR || './.gateway'),
      env,
      out: output.write,
      ...replaced,
    }
    const run = commands.get(name)
    const code = await (run?.(invocation) ?? pluginCommand({ ...invocation, args: words }))
    const fault = name === 'serve' ? undefined : await output.fault()
    if (fault === undefined) return code
    throw new StartError(`standard output cannot be written: ${fault.message}`)
  } catch (thrown) {
    const error = thrown instanceof Unanswered ? thrown.cause : thrown
    const code = error instanceof UsageError || thrown instanceof Unanswered ? 2 : 1
    const message = error instanceof UsageError ? error.message : operatorMessage(error, providedBy)
    if (message !== undefined) {
      process.stderr.write(`gateway: ${message}\n`)
      return code
    }
    const what = name === 'serve' ? 'the gateway could not start' : 'the command failed'
    createLogger(undefined).fatal({ err: error }, what)
    return code
  }
}

/** Extracts `--config` and `--data-dir` from any position; the rest belongs to the command. */
function readGlobalOptions(argv: readonly string[]) {
  const words: string[] = []
  const taken: string[] = []
  for (let i = 0; i < argv.length; i++) {
    const word = argv[i] as string
    const name = word.split('=', 1)[0]
    if (name !== '--config' && name !== '--data-dir') {
      words.push(word)
      continue
    }
    taken.push(word)
    if (!word.includes('=')) taken.push(argv[++i] ?? '')
  }
  const { values } = parseArgs({
    args: taken,
    options: { config: { type: 'string' }, 'data-dir': { type: 'string' } },
  })
  if (values.config === '' || values['data-dir'] === '') {
    throw new UsageError('--config and --data-dir each need a path')
  }
  return { words, configFile: values.config, dataDir: values['data-dir'] }
}
