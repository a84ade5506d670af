import { UsageError } from 'model-gateway/plugin'

export type Arguments = ReadonlyMap<string, readonly string[]>

/** Arguments of a command by flag: `--flag VALUE` or `--flag=VALUE`; switches have no value. */
export function readArguments(
  args: readonly string[],
  flags: readonly string[],
  switches: readonly string[] = [],
): Arguments {
  const values = new Map<string, string[]>()
  for (let i = 0; i < args.length; i++) {
    const argument = args[i] as string
    if (switches.includes(argument)) {
      values.set(argument, [])
      continue
    }
    const [flag = '', inline] = argument.split(/=(.*)/s)
    if (!flags.includes(flag)) throw new UsageError(`unknown argument ${argument}`)
    const value = inline ?? args[++i]
    if (value === undefined || value === '') throw new UsageError(`${flag} needs a value`)
    values.set(flag, [...(values.get(flag) ?? []), value])
  }
  return values
}

/** The value of a flag that must not be repeated. */
export function once(values: Arguments, flag: string): string | undefined {
  const [value, ...more] = values.get(flag) ?? []
  if (more.length > 0) throw new UsageError(`${flag} is repeated`)
  return value
}
