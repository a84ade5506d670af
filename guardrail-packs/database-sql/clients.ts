import { bqOptions } from '../_shared/bq-options.ts'
import type { OptionTable } from '../_shared/command-options.ts'
import type { SqlDialect } from '../_shared/sql.ts'
import { wordList } from '../_shared/word-lists.ts'

/** How a command-line client gets its SQL. */
export interface SqlClientTool {
  readonly dialect: SqlDialect
  readonly table: OptionTable
  /** Options whose value is SQL. */
  readonly sql: readonly string[]
  /** Options whose value is a SQL file; `-` is standard input. */
  readonly files: readonly string[]
  /** Options of both kinds after which the client still reads standard input. */
  readonly startup?: readonly string[]
  /** The first operand that is SQL; absent if none is. */
  readonly sqlFrom?: number
  /** It only shows something, without reading SQL. */
  readonly shows: readonly string[]
  /** Checks the SQL without running it. */
  readonly dryRun?: readonly string[]
  /** Opens the database read-only. */
  readonly readOnly?: readonly string[]
  /** Words before the client's options: `bq query`, `cockroach sql`. */
  readonly subcommands?: readonly string[]
  /** `-psecret`: the password is attached to the letter. */
  readonly attachedPassword?: boolean
  /** Options with two values. */
  readonly pairs?: readonly string[]
}

const psql: SqlClientTool = {
  dialect: 'postgres',
  table: {
    short: 'cdfvLoFPRThpU',
    values:
      wordList(`command dbname file set variable log-file output field-separator pset record-separator
      table-attr host port username`),
    flags:
      wordList(`list version no-psqlrc single-transaction help echo-all echo-errors echo-queries echo-hidden
      no-readline quiet single-step single-line no-align csv html tuples-only expanded field-separator-zero
      record-separator-zero no-password password`),
  },
  sql: ['-c', '--command'],
  files: ['-f', '--file'],
  shows: ['-l', '--list', '-V', '--version', '--help', '-?'],
}

const pgcli: SqlClientTool = {
  dialect: 'postgres',
  table: {
    short: 'chpUudDRtf',
    values:
      wordList(`command file host port username user dbname pgclirc dsn row-limit application-name prompt
      prompt-dsn log-file init-command ssh-tunnel`),
  },
  sql: ['-c', '--command', '--init-command'],
  files: ['-f', '--file'],
  startup: ['--init-command'],
  shows: ['-l', '--list', '-v', '--version', '--help', '--ping', '--list-dsn'],
}

const mysql: SqlClientTool = {
  dialect: 'mysql',
  table: {
    short: 'DehPSu',
    values:
      wordList(`database execute host port user socket delimiter default-character-set defaults-file
      defaults-extra-file defaults-group-suffix init-command prompt protocol tee plugin-dir ssl-ca
      ssl-cert ssl-key ssl-mode ssl-cipher character-sets-dir login-path max-allowed-packet max_allowed_packet
      connect-timeout connect_timeout default-auth net-buffer-length select-limit max-join-size`),
    flags: wordList(
      'batch table vertical raw silent skip-column-names force verbose xml html quick pager version help',
    ),
  },
  sql: ['-e', '--execute', '--init-command'],
  files: [],
  startup: ['--init-command'],
  shows: ['-V', '--version', '-?', '--help', '-I'],
  attachedPassword: true,
}

const sqlite: SqlClientTool = {
  dialect: 'sqlite',
  table: {
    singleDash: true,
    values: wordList(
      'cmd init separator newline nullvalue maxsize mmap vfs nonce key hexkey textkey heap sorterref escape',
    ),
  },
  sql: ['-cmd', '--cmd'],
  files: ['-init', '--init'],
  startup: ['-cmd', '--cmd', '-init', '--init'],
  sqlFrom: 1,
  shows: ['-version', '--version', '-help', '--help'],
  readOnly: ['-readonly', '--readonly'],
  pairs: ['lookaside', 'pagecache'],
}

const duckdb: SqlClientTool = {
  dialect: 'duckdb',
  table: {
    singleDash: true,
    values: wordList('c s cmd f init separator newline nullvalue storage-version storage_version'),
  },
  sql: ['-c', '-s', '-cmd', '--cmd'],
  files: ['-f', '-init', '--init'],
  startup: ['-cmd', '--cmd', '-init', '--init'],
  sqlFrom: 1,
  shows: ['-version', '--version', '-help', '--help'],
  readOnly: ['-readonly', '--readonly'],
}

const bq: SqlClientTool = {
  dialect: 'bigquery',
  table: bqOptions,
  sql: [],
  files: ['--flagfile'],
  subcommands: ['query'],
  sqlFrom: 0,
  shows: ['--help'],
  dryRun: ['--dry_run'],
}

const mysqlLike = (table: OptionTable): SqlClientTool => ({ ...mysql, table })

/** By the executable's base name. */
export const clients: ReadonlyMap<string, SqlClientTool> = new Map([
  ['psql', psql],
  ['pgcli', pgcli],
  ['mysql', mysql],
  ['mariadb', mysql],
  [
    'mycli',
    mysqlLike({
      ...mysql.table,
      values: [...(mysql.table.values ?? []), ...wordList('dsn myclirc format ssh-host ssh-user')],
    }),
  ],
  ['sqlite3', sqlite],
  ['sqlite', sqlite],
  [
    'litecli',
    {
      ...sqlite,
      table: {
        short: 'eDR',
        values: wordList('execute database liteclirc prompt auto-vertical-output'),
      },
      sql: ['-e', '--execute'],
      files: [],
      pairs: [],
    },
  ],
  ['duckdb', duckdb],
  ['bq', bq],
  [
    'sqlcmd',
    {
      dialect: 'any',
      table: { short: 'QqidSUPHaAchlmorstuvwxyYz', singleDash: false },
      sql: ['-Q', '-q'],
      files: ['-i'],
      shows: ['-?', '-L'],
    },
  ],
  ...['clickhouse-client', 'clickhouse'].map((name): [string, SqlClientTool] => [
    name,
    {
      dialect: 'any',
      table: {
        short: 'qhuCdf',
        values: wordList('query queries-file host port user password database config-file format'),
      },
      sql: ['-q', '--query'],
      files: ['--queries-file'],
      shows: ['--help', '--version', '-V'],
    },
  ]),
  [
    'cockroach',
    {
      dialect: 'postgres',
      table: {
        short: 'efdup',
        values: wordList('execute file database user url host port certs-dir format set'),
      },
      sql: ['-e', '--execute'],
      files: ['-f', '--file'],
      subcommands: ['sql'],
      shows: ['--help'],
    },
  ],
  [
    'snowsql',
    {
      dialect: 'any',
      table: {
        short: 'qfacdsrwuhDo',
        values: wordList('query filename config connection option variable'),
      },
      sql: ['-q', '--query'],
      files: ['-f', '--filename'],
      shows: ['--help', '-v', '--version'],
    },
  ],
  ...['cqlsh', 'ycqlsh'].map((name): [string, SqlClientTool] => [
    name,
    {
      dialect: 'any',
      table: { short: 'eukpf', values: wordList('execute file username password keyspace') },
      sql: ['-e', '--execute'],
      files: ['-f', '--file'],
      shows: ['--help', '--version'],
    },
  ]),
  [
    'usql',
    {
      dialect: 'any',
      table: { short: 'cfovPFRT', values: wordList('command file out set variable pset') },
      sql: ['-c', '--command'],
      files: ['-f', '--file'],
      shows: ['--help', '-V', '--version'],
    },
  ],
  [
    'trino',
    {
      dialect: 'any',
      table: {
        short: 'f',
        values: wordList('execute file server catalog schema user session output-format'),
      },
      sql: ['--execute'],
      files: ['-f', '--file'],
      shows: ['--help', '--version'],
    },
  ],
])

/** Tools that remove data without SQL. */
export interface RemovingTool {
  /** Options that make it remove; absent if it always does. */
  readonly options?: readonly string[]
  /** Operands that make it remove. */
  readonly operands?: RegExp
  /** A pattern for operands that remove. */
  readonly said?: RegExp
  readonly table: OptionTable
}

/** A tool that removes if these words are among its operands, as text with spaces. */
function byWords(operands: RegExp, short = '', values = ''): RemovingTool {
  return { said: operands, table: { short, values: wordList(values) } }
}

const railsTask = /(?:^| )(?:db|app:db):(?:drop|reset|purge|truncate_all)(?::\w+)*(?: |$)/
const postgresConnection: OptionTable = {
  short: 'hpU',
  values: wordList('host port username maintenance-db'),
}

export const removingTools: ReadonlyMap<string, RemovingTool> = new Map<string, RemovingTool>([
  ['rails', byWords(railsTask)],
  ['rake', byWords(railsTask)],
  ['manage.py', byWords(/^(?:flush|reset_db|sqlflush)(?: |$)/)],
  ['django-admin', byWords(/^(?:flush|reset_db)(?: |$)/)],
  ['prisma', byWords(/^migrate reset(?: |$)/)],
  ['sequelize', byWords(/^db:drop(?: |$)/)],
  ['sequelize-cli', byWords(/^db:drop(?: |$)/)],
  ['typeorm', byWords(/^schema:drop(?: |$)/)],
  ['mikro-orm', byWords(/^schema:drop(?: |$)/)],
  ['artisan', byWords(/^(?:migrate:(?:fresh|reset|refresh)|db:wipe)(?: |$)/)],
  ['console', byWords(/^doctrine:(?:database|schema):drop(?: |$)/)],
  ['mix', byWords(/^ecto\.(?:drop|reset)(?: |$)/)],
  ['flyway', byWords(/(?:^| )clean(?: |$)/)],
  ['liquibase', byWords(/(?:^| )drop-?all(?: |$)/i)],
  ['supabase', byWords(/^db reset(?: |$)/)],
  ['dbmate', byWords(/^drop(?: |$)/, 'ude')],
  ['diesel', byWords(/^database (?:reset|drop)(?: |$)/)],
  ['sqlx', byWords(/^database (?:reset|drop)(?: |$)/)],
  ['wp', byWords(/^db (?:drop|reset|clean)(?: |$)/)],
  ['drush', byWords(/^(?:sql-drop|sql:drop)(?: |$)/)],
  ['heroku', byWords(/^pg:reset(?: |$)/, 'a', 'app confirm')],
  ['firebase', byWords(/^(?:firestore:delete|database:remove)(?: |$)/)],
  ['redis-cli', byWords(/^(?:flushall|flushdb)(?: |$)/i, 'hpanuds')],
  ['valkey-cli', byWords(/^(?:flushall|flushdb)(?: |$)/i, 'hpanuds')],
  ['dropdb', { table: postgresConnection }],
  ['dropuser', { table: postgresConnection }],
  ['droplang', { table: postgresConnection }],
  ['pg_dropcluster', { table: {} }],
  [
    'pg_restore',
    {
      options: ['-c', '--clean'],
      table: {
        short: 'dFIjLnNPStTUhpf',
        values:
          wordList(`dbname format index jobs use-list schema exclude-schema function superuser trigger table
          username host port file role section`),
        flags: wordList(
          'clean create data-only exit-on-error list no-owner schema-only verbose no-privileges',
        ),
      },
    },
  ],
  ...['mysqladmin', 'mariadb-admin'].map((name): [string, RemovingTool] => [
    name,
    { operands: /^dro?p?$/i, table: { short: 'hPSuiwc', values: mysql.table.values ?? [] } },
  ]),
  ...['mysqlimport', 'mariadb-import'].map((name): [string, RemovingTool] => [
    name,
    {
      options: ['-d', '--delete'],
      table: { short: 'hPSuc', values: mysql.table.values ?? [], flags: ['delete'] },
    },
  ]),
])
