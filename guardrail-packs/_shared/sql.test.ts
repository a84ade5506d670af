import { beforeAll, describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { judgeSql, loadPostgresParser, type SqlDialect } from './sql.ts'
import { judgeAsPostgres } from './sql-postgres.ts'
import { readSql } from './sql-script.ts'
import { standardReading } from './sql-tokens.ts'

beforeAll(loadPostgresParser)

const hazardous = [
  'DROP TABLE x',
  'drop index i',
  'TRUNCATE users',
  'DELETE FROM users',
  'DELETE FROM users WHERE 1=1',
  'DELETE FROM users WHERE true OR id=1',
  'DELETE FROM users WHERE (((1)=(1)))',
  'UPDATE t SET a=1',
  'UPDATE t SET a=(SELECT b FROM c WHERE c.id=1)',
  'WITH x AS (DELETE FROM users RETURNING *) SELECT * FROM x',
  'WITH x AS (SELECT 1) DELETE FROM users',
  'EXPLAIN ANALYZE DELETE FROM users',
  'EXPLAIN (ANALYZE, BUFFERS) DELETE FROM users',
  'DO $$ BEGIN DELETE FROM t; END $$',
  "DO $$ BEGIN EXECUTE 'DROP TABLE x'; END $$",
  "DO $$ BEGIN EXECUTE 'DROP TABLE ' || n; END $$",
  "DO $x$ DECLARE r record; BEGIN FOR r IN SELECT 1 LOOP EXECUTE format('drop table %I', r.a); END LOOP; END $x$",
  "COPY t FROM PROGRAM 'curl x'",
  'COPY (DELETE FROM t RETURNING *) TO STDOUT',
  'MERGE INTO t USING s ON t.id=s.id WHEN MATCHED THEN DELETE',
  'ALTER TABLE t DROP COLUMN c',
  'ALTER TABLE t DROP c',
  'ALTER TABLE t ADD x int, DROP COLUMN y',
  'SELECT 1; DROP TABLE x',
  '/* a */ drop /* b */ table x',
  "PREPARE s FROM 'DROP TABLE x'",
  'PREPARE p AS DELETE FROM t',
  "EXECUTE IMMEDIATE 'DROP TABLE x'",
  "EXECUTE IMMEDIATE concat('DROP', x)",
  'BEGIN; DELETE FROM t; COMMIT',
  'BEGIN DELETE FROM t; END',
  'IF EXISTS (SELECT 1) DROP TABLE x',
  'DELETE FROM t WHERE id = id',
  "DELETE FROM t WHERE name LIKE '%'",
  'DELETE FROM t WHERE x IS NULL OR x IS NOT NULL',
  'DELETE t1 FROM t1 JOIN t2 ON t1.id=t2.id',
  'DROP OWNED BY joe',
  'DROP EXTENSION x',
  'DROP ROLE joe',
  "SELECT dblink_exec('x','DROP TABLE t')",
  'UPDATE t SET a=1 WHERE NOT false',
  "DELETE FROM t WHERE now() > '2000-01-01'",
  'DELETE FROM t LIMIT 5',
  'DELETE FROM t WHERE 2>1 RETURNING *',
  'REPLACE INTO t SELECT 1; drop schema x cascade',
  'DO LANGUAGE plpython3u $$ plpy.execute("drop table x") $$',
  '(DELETE FROM t)',
  'EXPLAIN ANALYZE UPDATE t SET x=1',
  'ANALYZE DELETE FROM t',
  'WITH a AS (SELECT 1), b AS (UPDATE t SET x=2 RETURNING 1) SELECT 1',
  'ALTER TABLE t TRUNCATE PARTITION p0',
  "DELETE FROM t WHERE 'a'='a' AND 1=1",
  'DELETE FROM t WHERE id IN (1) OR NOT id IN (1)',
  'DELETE FROM t WHERE 1',
  'DELETE FROM t WHERE EXISTS (SELECT 1)',
  'CREATE TABLE x AS SELECT 1; TRUNCATE y',
]

const harmless = [
  'SELECT 1',
  "SELECT * FROM t WHERE name = 'DROP TABLE x'",
  "SELECT 'it''s; DROP TABLE x'",
  'SELECT "drop table" FROM t',
  'SELECT $$ DROP TABLE x $$',
  'SELECT 1 -- DROP TABLE x',
  'SELECT 1 /* DROP TABLE x; */',
  'DELETE FROM users WHERE id = 5',
  'DELETE FROM users WHERE id IN (SELECT user_id FROM old)',
  'UPDATE t SET a=1 WHERE id=2',
  "UPDATE t SET a=1, b='where' WHERE id=2 RETURNING *",
  'INSERT INTO t VALUES (1) ON CONFLICT (id) DO UPDATE SET a=1',
  'INSERT INTO t VALUES (1) ON DUPLICATE KEY UPDATE a=1',
  'SELECT * FROM t FOR UPDATE',
  'SELECT delete FROM t',
  'SELECT drop_database_hint FROM docs',
  'SELECT truncate(1.5, 1)',
  'CREATE TABLE t (id int REFERENCES x ON DELETE CASCADE)',
  'GRANT DELETE, UPDATE ON t TO joe',
  'REVOKE DELETE ON t FROM joe',
  'REVOKE TRUNCATE ON t FROM joe',
  'EXPLAIN DELETE FROM t',
  'CREATE FUNCTION f() RETURNS void AS $$ BEGIN DELETE FROM t; END $$ LANGUAGE plpgsql',
  'CREATE TRIGGER x AFTER INSERT ON t BEGIN DELETE FROM log WHERE 1; UPDATE t SET a=1; END',
  'CREATE TRIGGER x BEFORE DELETE ON t FOR EACH ROW EXECUTE FUNCTION f()',
  'ALTER TABLE t ALTER COLUMN c DROP NOT NULL',
  'ALTER TABLE t ALTER c DROP DEFAULT',
  'ALTER TABLE t ADD COLUMN dropped boolean',
  'ALTER TABLE t RENAME TO u',
  'MERGE INTO t USING s ON t.id=s.id WHEN MATCHED THEN UPDATE SET a=1 WHEN NOT MATCHED THEN INSERT VALUES (1)',
  'COPY t TO STDOUT',
  "COPY t FROM '/tmp/x.csv'",
  "DO $$ BEGIN RAISE NOTICE 'DELETE FROM t'; END $$",
  'DO $$ BEGIN DELETE FROM t WHERE id=1; INSERT INTO t VALUES (1) ON CONFLICT DO UPDATE SET a=1; END $$',
  'BEGIN; UPDATE t SET x=1 WHERE y=2; COMMIT',
  "SELECT extract(year from timestamp '2001-02-16 20:38:40')",
  'SELECT count(*) FROM deletes WHERE deleted = true',
  "DELETE FROM t WHERE created < now() - interval '90 days'",
  'DELETE FROM t WHERE id = $1',
  'DELETE FROM t WHERE id = ?',
  'WITH gone AS (DELETE FROM t WHERE id=1 RETURNING *) SELECT * FROM gone',
  'SELECT * FROM information_schema.tables; SHOW TABLES',
  'PREPARE p AS SELECT 1',
  'EXECUTE p',
  'UPDATE t SET x=CASE WHEN y THEN 1 ELSE 2 END WHERE id > 5 AND a BETWEEN 1 AND 3',
  "SELECT arr[1], E'it\\'s; drop table x' FROM t",
  "DELETE FROM t WHERE x = 'a' OR y = 'b'",
  'DELETE FROM t USING u WHERE t.id = u.id',
  'DELETE FROM t WHERE CURRENT OF cur',
]

function asPostgres(text: string) {
  const script = readSql(text, { ...standardReading, nested: true, dollar: true })
  return judgeAsPostgres(text, script, () => undefined)
}

describe('the SQL judge', () => {
  test('denies what destroys', () => {
    expect(hazardous.filter((text) => judgeSql(text, 'any') === undefined)).toEqual([])
  })

  test('allows what does not', () => {
    expect(harmless.filter((text) => judgeSql(text, 'any') !== undefined)).toEqual([])
  })

  test('the Postgres parser agrees if it can parse the text', () => {
    const agreed = hazardous.filter((text) => asPostgres(text) !== undefined)
    expect(agreed.length).toBeGreaterThan(30)
    expect(harmless.filter((text) => asPostgres(text) !== undefined)).toEqual([])
  })

  test.each<[string, SqlDialect, string | undefined]>([
    // A backslash ends nothing in MySQL, and is nothing special in Postgres.
    ["SELECT '\\'; DROP TABLE x; --'", 'postgres', 'drop'],
    ["SELECT '\\'; DROP TABLE x; --'", 'any', 'drop'],
    ["SELECT 'it\\'s; DROP TABLE x'", 'mysql', undefined],
    ["SELECT E'\\'; DROP TABLE x; --'", 'postgres', undefined],
    // Before a name in double quotes, E is a name as well.
    ['SELECT a.e"\\"; DROP TABLE x; SELECT "b" FROM a', 'postgres', 'drop'],
    ['SELECT a.e"\\"; DROP TABLE x; SELECT "b" FROM a', 'sqlite', 'drop'],
    ['SELECT a.e"\\"; DROP TABLE x; SELECT "b" FROM a', 'any', 'drop'],
    // MySQL runs its own comments.
    ['/*!50000 DROP TABLE x */', 'mysql', 'drop'],
    ['/*!50000 DROP TABLE x */ SELECT 1', 'postgres', undefined],
    ['/*M! DROP TABLE x */', 'mysql', 'drop'],
    // Comments nest in Postgres only.
    ['/* /* */ DROP TABLE x; -- */', 'mysql', 'drop'],
    ['/* /* */ DROP TABLE x; */ */ SELECT 1', 'postgres', undefined],
    ['SELECT 1 # DROP TABLE x', 'mysql', undefined],
    ['SELECT 1 --;DROP TABLE x', 'mysql', 'drop'],
    ['SELECT [a; drop table x] FROM t', 'sqlite', undefined],
    ['SELECT `a; drop table x` FROM t', 'mysql', undefined],
    ['SELECT $x$; DROP TABLE x; $x$', 'postgres', undefined],
    ['SELECT $x$; DROP TABLE x; $x$', 'mysql', 'drop'],
    ['DROP TABLE `p.d.t`', 'bigquery', 'drop'],
    ['\ufeffDROP TABLE x', 'sqlite', 'drop'],
    // Some databases take the white space of Unicode for white space, MySQL none of it.
    ['DROP\u00a0TABLE x', 'duckdb', 'drop'],
    ['DELETE\u2003FROM\u3000t', 'bigquery', 'delete'],
    ['SELECT 1 --\u00a0x; DROP TABLE x', 'mysql', 'drop'],
    ["SELECT 'DROP\u00a0TABLE x'", 'duckdb', undefined],
    ['SELECT\u00a0a FROM t', 'any', undefined],
    ["SELECT 'open; DROP TABLE x", 'postgres', 'unreadable'],
    ["EXECUTE E'DR\\x4fP TABLE x'", 'postgres', 'unreadable'],
    ['SELECT 1\0; DROP TABLE x', 'postgres', 'unreadable'],
    ['SELECT constructor(JSON_ARRAYAGG(i)), deleted FROM t', 'postgres', undefined],
  ])('%p for %s: %p', (text, dialect, hazard) => {
    expect(judgeSql(text, dialect)).toBe(hazard as ReturnType<typeof judgeSql>)
  })

  test.each<[string, SqlDialect, string | undefined]>([
    ['\\! id', 'postgres', 'client_shell'],
    ['SELECT 1 \\g | sh', 'postgres', 'client_shell'],
    ["\\copy t from program 'id'", 'postgres', 'program'],
    ['\\copy (delete from t returning *) to stdout', 'postgres', 'delete'],
    ['\\timing \\\\ DROP TABLE x', 'postgres', 'drop'],
    ['\\dt', 'postgres', undefined],
    ["SELECT '\\! id'", 'postgres', undefined],
    ['\\i x.sql', 'postgres', 'client_file'],
    ['SELECT 1\\gexec', 'postgres', 'unreadable'],
    ['source x.sql', 'mysql', 'client_file'],
    ['delimiter //\nSELECT 1// DROP TABLE x//', 'mysql', 'drop'],
    ['delimiter //\nCREATE PROCEDURE p() BEGIN DELETE FROM t; END//', 'mysql', undefined],
    ['SELECT 1\\G DROP TABLE x', 'mysql', 'drop'],
    ['.shell id', 'sqlite', 'client_shell'],
    ['.tables\nDROP TABLE x;', 'sqlite', 'drop'],
    ['.read x.sql', 'duckdb', 'client_file'],
    ['SELECT 1\n.shell id', 'sqlite', undefined],
  ])('%p through the client of %s: %p', (text, dialect, hazard) => {
    expect(judgeSql(text, dialect, true)).toBe(hazard as ReturnType<typeof judgeSql>)
  })

  const gap = fc.constantFrom(' ', '  ', '\n', '\t', ' /* note */ ', '\n-- note\n', '/**/ ')

  test('case, spaces and comments between words change nothing', () => {
    const plain = hazardous.filter((text) => !/['"$]/.test(text))
    fc.assert(
      fc.property(
        fc.constantFrom(...plain),
        fc.infiniteStream(gap),
        fc.infiniteStream(fc.boolean()),
        (text, gaps, uppers) => {
          const written = text
            .split(' ')
            .map((word) => (uppers.next().value ? word.toUpperCase() : word.toLowerCase()))
            .reduce((all, word) => all + gaps.next().value + word)
          expect(judgeSql(written, 'any')).toBeDefined()
          expect(judgeSql(`SELECT 1;${gaps.next().value}${written};`, 'any')).toBeDefined()
        },
      ),
      { numRuns: 1_000 },
    )
  })

  test('the same words as data are data', () => {
    const quotings: readonly [SqlDialect, (text: string) => string][] = [
      ['any', (text) => `SELECT '${text.replaceAll("'", "''")}'`],
      ['any', (text) => `INSERT INTO notes VALUES (1, '${text.replaceAll("'", "''")}')`],
      ['any', (text) => `SELECT 1 -- ${text}`],
      ['any', (text) => `SELECT 1 /* ${text} */`],
      ['any', (text) => `SELECT "${text.replaceAll('"', '""')}" FROM t`],
      ['postgres', (text) => `SELECT $q$${text}$q$`],
      ['mysql', (text) => `SELECT \`${text}\` FROM t`],
    ]
    fc.assert(
      fc.property(
        fc.constantFrom(...hazardous),
        fc.constantFrom(...quotings),
        (text, [dialect, quote]) => {
          fc.pre(!text.includes('$q$') && !text.includes('\\'))
          expect(judgeSql(quote(text), dialect)).toBeUndefined()
        },
      ),
      { numRuns: 1_000 },
    )
  })

  test('never throws, for any input', () => {
    const piece = fc.oneof(
      fc.string({ unit: 'binary' }),
      fc.constantFrom(
        "'",
        '"',
        '`',
        '$$',
        '/*',
        '*/',
        '--',
        ';',
        '(',
        ')',
        '\\',
        'DROP ',
        'DELETE ',
        'WHERE ',
        'BEGIN ',
        'EXECUTE ',
      ),
    )
    fc.assert(
      fc.property(
        fc.array(piece).map((pieces) => pieces.join('')),
        (text) => {
          for (const dialect of ['postgres', 'mysql', 'sqlite', 'any'] as const)
            judgeSql(text, dialect, true)
        },
      ),
      { numRuns: 500 },
    )
  })
})
