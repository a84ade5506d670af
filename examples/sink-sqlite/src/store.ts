import { Database } from 'bun:sqlite'

/** One stored call. */
export interface CallRow {
  readonly request_id: string
  readonly owner: string
  readonly at: string
  readonly model: string
  readonly provider: string
  /** `ledger`, or `rejected` for a charge that a hard limit rejected. */
  readonly kind: 'ledger' | 'rejected'
  /** Pricing status of a ledger call. */
  readonly pricing_status: string | null
  /** USD × 10⁻¹² as bigint, because a number has too few digits. */
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
 * The primary key is the ledger's: a request id is unique per owner. A rejected charge and a ledger
 * call may share an id. The gateway reports each call once, but filling the file up from the ledger
 * may add it again.
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

/** Opens or creates the file. Throws an Error if a newer version wrote it. */
export function openStore(path: string) {
  // Integers are bigint, because a cost above 2⁵³ must stay exact.
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
    /** False if the call is already stored. */
    add(row: CallRow): boolean {
      return insert.run({ ...row }).changes > 0
    },

    /** Spend since a time (RFC 3339), by model or owner, highest first. */
    spend(by: 'model' | 'owner', since: string): readonly SpendLine[] {
      // Dollars and remainders are summed separately, because a sum of picodollars would overflow.
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
