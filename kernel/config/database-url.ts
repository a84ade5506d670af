import { Secret } from '../plugin/index.ts'
import type { Report } from './contributions.ts'
import { isFields } from './fields.ts'
import type { Pruned } from './rules.ts'
import type { RootEntry } from './schema.ts'
import type { Environment } from './secrets.ts'

const path = ['database', 'url']
/** Default ports of PgBouncer and of hosted poolers. */
const POOLER_PORTS = ['6432', '6543']

const isMeantForPostgres = (text: string) => /^postgres(ql)?:\/\/\S+$/.test(text)

/**
 * `database.url` may be a plain URL without `literal.`, because people expect that of a URL. URLs
 * with another scheme are accepted here too, so that the message about the scheme applies.
 */
export function withDatabaseUrl(data: Readonly<Record<string, unknown>>) {
  const { database } = data
  if (!isFields(database) || typeof database.url !== 'string') return data
  if (!/^(?!literal\.)[a-z][a-z0-9+.-]*:\/\//i.test(database.url)) return data
  return { ...data, database: { ...database, url: `literal.${database.url}` } }
}

/** The database URL, from `DATABASE_URL` or the file. Problems do not show it. */
export function databaseUrl(root: Pruned<RootEntry>, env: Environment, report: Report) {
  const fromFile = root.database?.url
  const written = fromFile instanceof Secret ? fromFile.reveal() : undefined
  const override = env.DATABASE_URL === '' ? undefined : env.DATABASE_URL
  if (written !== undefined) checkUrl(written, '', report)
  if (override !== undefined) checkUrl(override, 'DATABASE_URL ', report)
  const inForce = override ?? written
  if (inForce !== undefined && looksLikePooler(inForce)) {
    const subject = override === undefined ? '' : 'DATABASE_URL '
    report({
      path,
      message: `${subject}looks like a transaction pooler, which does not support notifications and session locks`,
      hint: 'connect to the server itself or to a session pooler',
      severity: 'warning',
    })
  }
  return override === undefined ? fromFile : new Secret(override)
}

function checkUrl(url: string, subject: string, report: Report): void {
  if (!isMeantForPostgres(url)) {
    const hint = 'write postgres://user:password@host:5432/name'
    report({ path, message: `${subject}is not a postgres:// URL`, hint })
  } else if (!canBeRead(url)) {
    const hint =
      'write postgres://user:password@host:5432/name; in user and password, encode % as %25, @ as %40, / as %2F and # as %23'
    report({ path, message: `${subject}cannot be read as a URL`, hint })
  }
}

/** Percent-decodes user, password and host as the driver does. */
function canBeRead(url: string): boolean {
  const [, authority = ''] = /^\w+:\/\/([^/?#]*)/.exec(url) ?? []
  try {
    decodeURIComponent(authority)
    return URL.canParse(url)
  } catch {
    return false
  }
}

function looksLikePooler(url: string): boolean {
  const parsed = URL.parse(url)
  if (parsed === null) return false
  const { hostname, port, searchParams } = parsed
  return (
    POOLER_PORTS.includes(port) ||
    /pooler|pgbouncer/i.test(hostname) ||
    searchParams.get('pgbouncer') === 'true'
  )
}
