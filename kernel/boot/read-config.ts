import { dirname } from 'node:path'
import { checkConfig } from '../config/check.ts'
import type { LoadedConfig, LoadedPlugin } from '../config/loaded.ts'
import { parseConfig } from '../config/parse.ts'
import { formatProblems, type LocatedProblem } from '../config/problems.ts'
import { orderPlugins } from '../registry/order.ts'
import { type Builtins, resolvePlugins } from '../registry/resolve.ts'
import { StartError } from './errors.ts'

export interface ConfigSource {
  readonly text: string
  /** For messages and relative plugin paths; undefined for the bundled config. */
  readonly file: string | undefined
}

/** The name of the bundled config in messages. */
const QUICKSTART = 'quick start config'

export interface ReadConfig {
  /** Undefined if a problem is an error. */
  readonly loaded: LoadedConfig | undefined
  /** In set-up order. */
  readonly plugins: readonly LoadedPlugin[]
  readonly problems: readonly LocatedProblem[]
  readonly file: string
}

/** Reads and checks a config and loads its plugins, without running them. */
export async function readConfig(
  source: ConfigSource,
  builtins: Builtins,
  env: Readonly<Record<string, string | undefined>>,
): Promise<ReadConfig> {
  const file = source.file ?? QUICKSTART
  const parsed = parseConfig(source.text)
  const directory = source.file === undefined ? process.cwd() : dirname(file)
  const resolved = await resolvePlugins(parsed.data?.plugins, { builtins, directory })
  const ordered = orderPlugins(resolved, builtins)
  const problems = [...resolved.problems, ...ordered.problems]
  const checked = checkConfig(parsed, { ...resolved, problems }, env, builtins)
  return { loaded: checked.loaded, plugins: ordered.plugins, problems: checked.problems, file }
}

/** Returns the loaded config. Throws StartError with all problems if the config has errors. */
export function requireLoaded({ loaded, problems, file }: ReadConfig): LoadedConfig {
  if (loaded !== undefined) return loaded
  throw new StartError(`the config cannot be used:\n${formatProblems(problems, file)}`)
}
