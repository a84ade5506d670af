import { rmSync } from 'node:fs'
import { isDeepStrictEqual } from 'node:util'
import { formatPath, GatewayError, type JsonObject } from 'model-gateway/plugin'
import type { Logger } from 'pino'
import type { ConfigAccess, ConfigHost, FileProblem } from './access.ts'
import { COPY, removeKeys, replaceFile, storeKey, writeFault } from './files.ts'
import {
  entriesOf,
  indexOf,
  revisionOf,
  type Section,
  withEntry,
  withoutEntry,
  yamlOf,
} from './fragment.ts'
import { requireOwnSecrets, type SecretRules, withKeys } from './secrets.ts'
import type { By, Change, Store } from './store.ts'

const nouns = { providers: 'provider', models: 'model' } as const

/** How a change is asked for. */
export interface Asked {
  /** Return what would be written, and its problems, without writing. */
  readonly dry_run?: boolean
  /** The revision that the change is based on. */
  readonly revision?: string
}

export interface NewEntry extends Asked {
  readonly entry: JsonObject
  /** Secrets by field, which are stored in files. */
  readonly secrets?: Readonly<Record<string, string>>
}

/** The result of a change or a dry run. */
export interface Changed {
  readonly file: string
  readonly in_force: boolean
  readonly revision: string
  /** The entry alone, to be copied into a config. */
  readonly yaml: string
  readonly problems: ProblemView[]
}

/** A type alias, because it is sent as JSON. */
export type ProblemView = {
  readonly path: string
  /** Path within the entry; null: the problem is elsewhere. */
  readonly field: string | null
  readonly message: string
  readonly hint: string | null
  readonly severity: 'error' | 'warning'
  readonly file: string
  readonly line: number | null
  readonly column: number | null
}

export interface EditorParts {
  readonly host: ConfigHost
  /** Changes are only shown. */
  readonly readOnly: boolean
  /** Environment variables that providers of any address may use as their key. */
  readonly variables: readonly string[]
  readonly store: Store
  readonly log: Pick<Logger, 'warn' | 'info'>
}

const NO_FILES = 'this gateway does not read its config from files'

export type Editor = ReturnType<typeof createEditor>

/**
 * Changes the managed file, one change at a time. When a change resolves, it is applied; when it
 * rejects, it is rolled back.
 */
export function createEditor({ host, readOnly, variables, store, log }: EditorParts) {
  let last: Promise<unknown> = Promise.resolve()

  /** Throws `not_found` if the gateway does not read its config from files. */
  function access(): ConfigAccess {
    if (host.access !== undefined) return host.access
    throw new GatewayError('not_found', NO_FILES)
  }

  /** Why the file cannot be changed; undefined if it can. */
  function fault(): string | undefined {
    if (readOnly) return 'plugins[].config.read_only of builtin:config-editor is set'
    return host.access === undefined ? NO_FILES : writeFault(host.access.file)
  }

  function inTurn<T>(work: () => Promise<T>): Promise<T> {
    const done = last.then(work)
    last = done.catch(() => {})
    return done
  }

  /** Writes a text, applies it and stores the change. On an error, restores the previous state. */
  async function put(
    config: ConfigAccess,
    before: string | undefined,
    after: string | undefined,
    keep: () => Promise<void>,
    details: JsonObject = {},
  ): Promise<void> {
    const why = fault()
    if (why !== undefined) throw new GatewayError('conflict', `${why}: ${COPY}`, { details })
    replaceFile(config.file, after, details)
    try {
      refuse(await forOperators(() => config.apply()))
      await keep()
    } catch (error) {
      replaceFile(config.file, before)
      await config.apply().catch((err) => log.warn({ err }, 'restoring the previous config failed'))
      throw error
    }
    await store
      .texts(config.file)
      .then((texts) => removeKeys(config.file, [...texts, after]))
      .catch((err) => log.warn({ err }, 'removing the files of unused keys failed'))
  }

  function rulesOf({ file, types, vendors }: ConfigAccess): SecretRules {
    const isKept = async (entry: JsonObject) =>
      (await store.texts(file)).some((text) => hasEntry(text, entry))
    return { file, types, vendors, variables, isKept }
  }

  async function change(
    { dry_run = false, revision }: Asked,
    by: By,
    made: (before: string | undefined) => Omit<Change, 'before'> & { section: Section },
  ): Promise<Changed> {
    const config = access()
    const before = await forOperators(async () => config.read())
    requireRevision(before, revision)
    const { section, ...rest } = made(before)
    const { action, after, objectId, entry } = rest
    const at = after === undefined ? -1 : indexOf(after, section, objectId)
    const found = await forOperators(() => config.check(after))
    const problems = found.map((problem) => viewOf(problem, [section, at], config.file))
    const shown = (entry.after ?? entry.before) as JsonObject
    const yaml = yamlOf(section, shown)
    if (!dry_run) {
      refuse(problems, { yaml })
      const kept = { action, objectId, before, after, entry }
      await put(config, before, after, () => store.add(config.file, kept, by), { yaml })
      log.info({ file: config.file, action, object_id: objectId }, 'the managed config was changed')
    }
    const state = dry_run ? before : after
    return { file: config.file, in_force: !dry_run, revision: revisionOf(state), yaml, problems }
  }

  return {
    fault,

    /** The text of the managed file; undefined if it does not exist. Throws `conflict`. */
    read: () => forOperators(async () => host.access?.read()),

    /** Throws `validation_failed` with all problems, and `conflict` if the file is not writable. */
    add: (section: Section, { entry: sent, secrets = {}, ...asked }: NewEntry, by: By) =>
      inTurn(async () => {
        const stored: string[] = []
        let inForce = false
        try {
          let entry = sent
          if (section === 'providers') {
            // A dry run returns the path of the key file without writing it.
            const write = fault() === undefined
            entry = await withKeys(rulesOf(access()), sent, secrets, (path, secret) => {
              if (!write) return
              storeKey(path, secret)
              stored.push(path)
            })
          }
          const changed = await change(asked, by, (before) => ({
            section,
            action: `${nouns[section]}.add`,
            objectId: String(entry.id ?? ''),
            after: withEntry(before, section, entry),
            entry: { after: entry },
          }))
          inForce = changed.in_force
          return changed
        } finally {
          if (!inForce) for (const path of stored) rmSync(path, { force: true })
        }
      }),

    /**
     * Throws `not_found` for an entry that is not in the managed file, `conflict` if the config
     * needs it.
     */
    remove: (section: Section, id: string, asked: Asked, by: By) =>
      inTurn(() =>
        change(asked, by, (before) => {
          const after = withoutEntry(before, section, id)
          const entry = entriesOf(before, section).find((one) => String(one.id) === id)
          if (after !== undefined && entry !== undefined) {
            const action = `${nouns[section]}.remove`
            return { section, action, objectId: id, after, entry: { before: entry } }
          }
          const message = `the managed file has no ${nouns[section]} "${id}"; remove entries of the config file in the config file`
          throw new GatewayError('not_found', message)
        }).catch((error: unknown) => {
          if (!(error instanceof GatewayError) || error.code !== 'validation_failed') throw error
          // Not a validation error: another entry of the config needs this one.
          throw new GatewayError('conflict', error.message, { details: error.details })
        }),
      ),

    /**
     * Undoes the last change. Throws `not_found` without one, `conflict` if the file was changed
     * since.
     */
    undo: ({ revision }: Pick<Asked, 'revision'>, by: By) =>
      inTurn(async () => {
        const config = access()
        const now = await forOperators(async () => config.read())
        requireRevision(now, revision)
        const change = await store.last(config.file)
        if (change === undefined) throw new GatewayError('not_found', 'no change to undo')
        if (revisionOf(now) !== revisionOf(change.after_text ?? undefined)) throw changedByHand()
        const before = change.before_text ?? undefined
        const back = entriesOf(before, 'providers').filter((entry) => !hasEntry(now, entry))
        for (const entry of back) await requireOwnSecrets(rulesOf(config), entry)
        refuse((await forOperators(() => config.check(before))).map(elsewhere))
        await put(config, now, before, () => store.undo(change, by))
        return { undone: change.action, object_id: change.object_id, revision: revisionOf(before) }
      }),
  }
}

/** Whether a text of the managed file has exactly this provider. */
function hasEntry(text: string | undefined, provider: JsonObject): boolean {
  return entriesOf(text, 'providers').some((entry) => isDeepStrictEqual(entry, provider))
}

function requireRevision(text: string | undefined, revision: string | undefined): void {
  if (revision !== undefined && revision !== revisionOf(text)) throw changedByHand()
}

function changedByHand(): GatewayError {
  const message = 'the managed file has changed meanwhile; reload it and try again'
  return new GatewayError('conflict', message)
}

/** Passes an Error for operators, such as an unreadable file, on to the admin. */
async function forOperators<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    if (error instanceof GatewayError || (error as Error).name !== 'StartError') throw error
    throw new GatewayError('conflict', (error as Error).message, { cause: error })
  }
}

/** Throws `validation_failed` if one of the problems is an error. */
function refuse(found: readonly (ProblemView | FileProblem)[], more: JsonObject = {}): void {
  const problems = found.map((one) => ('field' in one ? one : elsewhere(one)))
  const errors = problems.filter(({ severity }) => severity === 'error')
  if (errors.length === 0) return
  const words = errors.map(
    ({ path, message, hint }) => `${path}: ${message}${hint === null ? '' : ` — ${hint}`}`,
  )
  throw new GatewayError('validation_failed', words.join('; '), { details: { problems, ...more } })
}

function elsewhere(problem: FileProblem): ProblemView {
  return viewOf(problem, [], undefined)
}

function viewOf(
  { path, message, hint, severity = 'error', file, line, column }: FileProblem,
  at: readonly (string | number)[],
  managedFile: string | undefined,
): ProblemView {
  const isOwn = file === managedFile && at.every((part, index) => path[index] === part)
  return {
    path: formatPath(path),
    field: isOwn ? formatPath(path.slice(at.length)) : null,
    message,
    hint: hint ?? null,
    severity,
    file,
    line: line ?? null,
    column: column ?? null,
  }
}
