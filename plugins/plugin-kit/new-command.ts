import { existsSync, mkdirSync, statSync, writeFileSync } from 'node:fs'
import { basename, dirname, isAbsolute, join, relative, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { UsageError } from 'model-gateway/plugin'
import { newPluginCommand } from './index.ts'
import { packageFiles, type Versions } from './package-files.ts'
import { type Kind, kinds, readmeEnd, templateFiles } from './templates.ts'

export interface NewPluginCall {
  /** The words after `gateway plugin`. */
  readonly args: readonly string[]
  readonly cwd: string
  readonly versions: Versions
  readonly out: (line: string) => void
}

/**
 * `gateway plugin new KIND NAME`: writes the folder, then prints the next steps. Throws UsageError.
 */
export function runNewPlugin({ args, cwd, versions, out }: NewPluginCall): void {
  const { kind, name, dir, gateway } = readArguments(args)
  const folder = resolve(cwd, dir ?? '.', name)
  if (existsSync(folder)) throw new UsageError(`${folder} already exists; nothing was written`)
  const gatewayPackage = packageOf(gateway, cwd, folder, versions.gateway)

  const template = templateFiles(kind)
  const files = {
    ...packageFiles({ kind, name, gatewayPackage, versions }),
    ...template,
    'README.md': template['README.md'] + readmeEnd(),
  }
  for (const [path, text] of Object.entries(files)) {
    const file = join(folder, named(path, name))
    mkdirSync(dirname(file), { recursive: true })
    writeFileSync(file, named(text, name))
  }

  out(`${relative(cwd, folder) || folder}: ${Object.keys(files).length} files`)
  for (const path of Object.keys(files).toSorted()) out(`  ${path}`)
  out('')
  out('next:')
  out(`  cd ${relative(cwd, folder) || '.'}`)
  out('  bun install')
  out('  bun test')
}

function readArguments(args: readonly string[]) {
  const { positionals, values } = parse(args)
  const [verb, kind, name, ...rest] = positionals
  if (verb !== 'new') {
    throw misuse(
      verb === undefined ? 'the subcommand is missing' : `unknown command 'plugin ${verb}'`,
    )
  }
  if (!isKind(kind)) {
    throw misuse(
      kind === undefined
        ? 'the kind of plugin is missing'
        : `unknown kind '${kind}'; known: ${kinds.join(', ')}`,
    )
  }
  if (name === undefined) throw misuse('the name of the plugin is missing')
  if (rest.length > 0) throw misuse(`unexpected argument '${rest[0]}'`)
  const problem = nameProblem(name)
  if (problem !== undefined) throw misuse(`the name '${name}' ${problem}`)
  return { kind, name, dir: values.dir, gateway: values.gateway }
}

function parse(args: readonly string[]) {
  try {
    return parseArgs({
      args: [...args],
      allowPositionals: true,
      options: { dir: { type: 'string' }, gateway: { type: 'string' } },
    })
  } catch (error) {
    throw misuse(error instanceof Error ? error.message : String(error))
  }
}

/** Maximum length, because the Postgres schema of an admin module is derived from the name. */
const LONGEST_NAME = 40

function nameProblem(name: string): string | undefined {
  if (name.length > LONGEST_NAME) return `is longer than ${LONGEST_NAME} characters`
  if (/^[a-z][a-z0-9]*(-[a-z0-9]+)*$/.test(name)) return undefined
  return 'must start with a letter and have words of a-z and 0-9, separated by single hyphens'
}

/**
 * The source of the gateway's kits for the new package: the relative path of a packed tarball, or a
 * version. Default: the tarball of this version if it is in the current folder.
 */
function packageOf(
  given: string | undefined,
  cwd: string,
  folder: string,
  version: string,
): string {
  const tarball = given ?? `model-gateway-${version}.tgz`
  const isPath = tarball.endsWith('.tgz') || tarball.includes('/')
  if (!isPath) return tarball
  const file = isAbsolute(tarball) ? tarball : resolve(cwd, tarball)
  if (existsSync(file) && statSync(file).isFile()) return `file:${relative(folder, file)}`
  if (given !== undefined)
    throw new UsageError(`--gateway: the file ${basename(file)} does not exist in ${dirname(file)}`)
  return version
}

/** Replaces the template's name with the plugin's name, in every spelling. */
function named(text: string, name: string): string {
  const words = name.split('-')
  const capital = (word: string) => word.charAt(0).toUpperCase() + word.slice(1)
  const pascal = words.map(capital).join('')
  return text
    .replaceAll('sample-name', name)
    .replaceAll('sample_name', words.join('_'))
    .replaceAll('SAMPLE_NAME', words.join('_').toUpperCase())
    .replaceAll('SampleName', pascal)
    .replaceAll('sampleName', pascal.charAt(0).toLowerCase() + pascal.slice(1))
}

function isKind(kind: string | undefined): kind is Kind {
  return (kinds as readonly (string | undefined)[]).includes(kind)
}

function misuse(message: string): UsageError {
  return new UsageError(
    `${message}\nusage: gateway ${newPluginCommand.name} ${newPluginCommand.usage}`,
  )
}
