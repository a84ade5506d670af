import { Database } from 'bun:sqlite'

/** One call, as it is kept. */
export interface CallRow {
  readonly request_id: string
  readonly owner: string
  readonly at: string
  readonly model: string
  readonly provider: string
  /** Where the gateway has it: in the ledger, or among the charges that a hard limit rejected. */
  readonly kind: 'ledger' | 'rejected'
  /** How a call of the ledger was priced. */
  readonly pricing_status: string | null
  /** USD × 10⁻¹²: more digits than a number of JavaScript holds. */
  readonly cost_pico_usd: bigint | null
  readonly prompt_tokens: number | null
  readonly output_tokens: number | null
}

export interface SpendLine {
  readonly name: string
  readonly calls: bigint
  readonly pico_usd: bigint
}

/**
 * The key is the ledger's: a request id is unique for its owner. The id of a rejected charge may come
 * again, as a call of the ledger. What a sink is told is told once, but a file that is filled up from
 * the ledger later may tell it again.
 */
const tables = `
create table if not exists calls (
  request_id text not null,
  owner text not null,
  at text not null,
  model text not null,
  provider text not null,
  kind text not null check (kind in ('ledger', 'rejected')),
  pricing_status text check ((pricing_status is null) = (kind = 'rejected')),
  cost_pico_usd integer,
  prompt_tokens integer,
  output_tokens integer,
  primary key (request_id, owner, kind)
) strict, without rowid;
create index if not exists calls_at on calls (at);
pragma user_version = 1;
`

const PICO_PER_USD = 1_000_000_000_000n

export type Store = ReturnType<typeof openStore>

/** Opens the file, or makes it. Throws an Error for one that a newer version has written. */
export function openStore(path: string) {
  // Integers come as bigint: a cost beyond 2⁵³ has to keep its last digit.
  const db = new Database(path, { create: true, strict: true, safeIntegers: true })
  // Readers do not wait for the writer, and a second process waits for its turn.
  db.run('pragma journal_mode = wal')
  db.run('pragma busy_timeout = 5000')
  const { user_version: version } = db.query('pragma user_version').get() as {
    user_version: bigint
  }
  if (version > 1n) throw new Error(`${path} was written by a newer version of this plugin`)
  if (version === 0n) db.run(tables)

  const insert = db.query(`
    insert into calls (request_id, owner, at, model, provider, kind, pricing_status,
      cost_pico_usd, prompt_tokens, output_tokens)
    values ($request_id, $owner, $at, $model, $provider, $kind, $pricing_status,
      $cost_pico_usd, $prompt_tokens, $output_tokens)
    on conflict (request_id, owner, kind) do nothing`)

  return {
    /** False when the call is there already. */
    add(row: CallRow): boolean {
      return insert.run({ ...row }).changes > 0
    },

    /** What was spent from one time (RFC 3339) on, by model or owner, the dearest first. */
    spend(by: 'model' | 'owner', since: string): readonly SpendLine[] {
      // Dollars and the rest are added up by themselves: the sum of picodollars would overflow.
      const sums = db
        .query(
          `select ${by} as name, count(*) as calls,
            coalesce(sum(cost_pico_usd / ${PICO_PER_USD}), 0) as usd,
            coalesce(sum(cost_pico_usd % ${PICO_PER_USD}), 0) as pico
          from calls where at >= $since and kind = 'ledger' group by ${by}`,
        )
        .all({ since }) as { name: string; calls: bigint; usd: bigint; pico: bigint }[]
      return sums
        .map(({ name, calls, usd, pico }) => ({ name, calls, pico_usd: usd * PICO_PER_USD + pico }))
        .toSorted((a, b) => (a.pico_usd < b.pico_usd ? 1 : -1))
    },

    close(): void {
      db.close()
    },
  }
}
