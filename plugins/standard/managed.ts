import { readFileSync } from 'node:fs'
import { parse, resolve } from 'node:path'
import { type ConfigPath, isJsonObject } from 'model-gateway/plugin'
import type { BootOptions } from '../../kernel/boot/assemble.ts'
import { StartError } from '../../kernel/boot/errors.ts'
import { type ConfigSource, type ReadConfig, readConfig } from '../../kernel/boot/read-config.ts'
import type { LoadedConfig } from '../../kernel/config/loaded.ts'
import { type ParsedConfig, parseConfig } from '../../kernel/config/parse.ts'
import { formatProblems, hasErrors, type LocatedProblem } from '../../kernel/config/problems.ts'

import { addItems, type ManagedItems, managedSections, SectionError } from './managed-text.ts'

const BUNDLED = 'quick start config'

/** A problem with the file that it is in. */
export interface PlacedProblem extends LocatedProblem {
  readonly file: string
}

/** A config, with the providers and models of the managed file next to it. */
export interface ManagedSource extends ConfigSource {
  /** The config without them. */
  readonly main: ConfigSource
  /** Absolute path. */
  readonly managedFile: string
  /** Absent: the file does not exist. */
  readonly managedText: string | undefined
  /** Problems of joining the two; if they cannot be joined, the text is that of the main config. */
  readonly faults: readonly PlacedProblem[]
  /** The file and position of a problem of the joined text. */
  place(problem: LocatedProblem): PlacedProblem
}

/** `gateway.yaml` → `gateway.managed.yaml` in the same folder; without a file, in the working folder. */
export function managedFileOf(file: string | undefined): string {
  const { dir, name, ext } = parse(resolve(file ?? 'gateway.yaml'))
  return `${dir === '/' ? '' : dir}/${name}.managed${ext || '.yaml'}`
}

/**
 * Joins a config with the managed file next to it. `text` replaces the content of that file, to try
 * a change; null: no managed file. Throws StartError if the file cannot be read.
 */
export function withManaged(
  main: ConfigSource,
  text: string | null | undefined = undefined,
): ManagedSource {
  const managedFile = managedFileOf(main.file)
  const managedText = text === undefined ? readIfThere(managedFile) : (text ?? undefined)
  return { ...main, main, managedFile, managedText, ...join(main, managedFile, managedText) }
}

function readIfThere(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8')
  } catch (error) {
    if ((error as { code?: string }).code === 'ENOENT') return undefined
    throw new StartError(
      `the managed config file ${path} cannot be read: ${(error as Error).message}`,
    )
  }
}

type Joined = Pick<ManagedSource, 'text' | 'faults' | 'place'>

function join({ text, file = BUNDLED }: ConfigSource, managedFile: string, added = ''): Joined {
  const plain = { text, faults: [], place: (problem: LocatedProblem) => ({ ...problem, file }) }
  if (added.trim() === '') return plain
  const main = parseConfig(text)
  const managed = parseConfig(added)
  const own = [...faultsOf(managed, managedFile)]
  const faults = [...own, ...twice(main, managed, file, managedFile)]
  if (main.data === undefined || hasErrors(own)) return { ...plain, faults }
  const items = itemsOf(managed)
  try {
    const joined = addItems(text, items)
    requireJoined(main, items, joined)
    return { text: joined, faults, place: placing({ main, file }, { managed, managedFile }) }
  } catch (error) {
    if (!(error instanceof SectionError)) throw error
    const path = [error.section]
    const hint = `write each entry of the section here after "- ", or move the entries of ${managedFile} here`
    const fault = { path, message: error.message, hint, ...main.locate(path), file }
    return { ...plain, faults: [...faults, fault] }
  }
}

/** Checks that the joined lists have the main items, then the added items. */
function requireJoined(main: ParsedConfig, items: ManagedItems, joined: string): void {
  const { data } = parseConfig(joined)
  for (const section of managedSections) {
    const expected = [...listOf(main, section), ...items[section]]
    const found = data?.[section] ?? []
    if (expected.length > 0 && JSON.stringify(found) !== JSON.stringify(expected)) {
      throw new SectionError(section)
    }
  }
}

function listOf({ data }: ParsedConfig, section: string): readonly unknown[] {
  const list = data?.[section]
  return Array.isArray(list) ? list : []
}

function itemsOf(managed: ParsedConfig): ManagedItems {
  return { providers: listOf(managed, 'providers'), models: listOf(managed, 'models') }
}

function* faultsOf(managed: ParsedConfig, file: string): Iterable<PlacedProblem> {
  for (const problem of managed.problems) yield { ...problem, file }
  for (const [section, value] of Object.entries(managed.data ?? {})) {
    const at = { path: [section], ...managed.locate([section]), file }
    if (!(managedSections as readonly string[]).includes(section)) {
      const hint = 'move it to the config file'
      yield {
        ...at,
        message: 'must not be in a managed file, which may only have providers and models',
        hint,
      }
    } else if (value !== null && !Array.isArray(value)) {
      yield { ...at, message: 'must be a list', hint: 'begin each of its entries with "- "' }
    }
  }
}

/** Ids that are in both files. */
function* twice(
  main: ParsedConfig,
  managed: ParsedConfig,
  file: string,
  managedFile: string,
): Iterable<PlacedProblem> {
  for (const section of managedSections) {
    const places = new Map(
      listOf(main, section).map((item, index) => [
        idOf(item),
        [section, index, 'id'] as ConfigPath,
      ]),
    )
    for (const [index, item] of listOf(managed, section).entries()) {
      const id = idOf(item)
      const other = id === undefined ? undefined : places.get(id)
      if (other === undefined) continue
      const { line, column } = main.locate(other) ?? {}
      const path = [section, index, 'id']
      const message = `"${id}" is also the id of an entry in ${file}:${line}:${column}`
      const hint = 'remove one of the two, or give it another id'
      yield { path, message, hint, ...managed.locate(path), file: managedFile }
    }
  }
}

function idOf(item: unknown): string | undefined {
  return isJsonObject(item) && item.id !== undefined ? String(item.id) : undefined
}

interface MainFile {
  readonly main: ParsedConfig
  readonly file: string
}
interface ManagedFile {
  readonly managed: ParsedConfig
  readonly managedFile: string
}

/** Uses the path of a problem, because lines of the joined text exist in no file. */
function placing({ main, file }: MainFile, { managed, managedFile }: ManagedFile) {
  return ({ line: _line, column: _column, ...problem }: LocatedProblem): PlacedProblem => {
    const [section = '', index, ...rest] = problem.path
    const first = listOf(main, String(section)).length
    if ((managedSections as readonly unknown[]).includes(section) && Number(index) >= first) {
      const path = [section, Number(index) - first, ...rest]
      return { ...problem, path, ...managed.locate(path), file: managedFile }
    }
    if (problem.path.length > 0) return { ...problem, ...main.locate(problem.path), file }
    const same = main.problems.find(({ message }) => message === problem.message)
    return { ...problem, ...same, file }
  }
}

/** One line per problem, each with its file. */
export function formatPlaced(problems: readonly PlacedProblem[]): string {
  return problems.map((problem) => formatProblems([problem], problem.file)).join('\n')
}

export interface ReadManaged extends ReadConfig {
  readonly source: ManagedSource
  readonly problems: readonly PlacedProblem[]
}

/** Reads and checks a config with its managed file. */
export async function readManaged(
  source: ManagedSource,
  { builtins, env }: Pick<BootOptions, 'builtins' | 'env'>,
): Promise<ReadManaged> {
  const read = await readConfig(source, builtins, env)
  const keys = new Set(source.faults.map(placeKey))
  const found = read.problems.map(source.place).filter((problem) => !keys.has(placeKey(problem)))
  const problems = [...source.faults, ...found]
  return { ...read, source, problems, loaded: hasErrors(source.faults) ? undefined : read.loaded }
}

/** The loaded config. Throws StartError with all problems if it is not valid. */
export function requireUsable({ loaded, problems }: ReadManaged): LoadedConfig {
  if (loaded !== undefined) return loaded
  throw new StartError(`the config cannot be used:\n${formatPlaced(problems)}`)
}

/** Two problems of one place are one mistake. */
function placeKey({ file, path }: PlacedProblem): string {
  return JSON.stringify([file, path])
}
