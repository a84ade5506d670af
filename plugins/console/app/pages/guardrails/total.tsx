import { type GetOptions, useGet } from '@/api/query.ts'
import { count, NOT_KNOWN } from '@/lib/format.ts'
import { actionNames, type Decision } from '@/pages/guardrails/query.ts'

const REFRESH_MS = 15_000
const path = '/api/v1/admin/guardrails/decisions'

interface TotalProps {
  readonly action: Decision['action']
  /** All other filters. */
  readonly query: NonNullable<GetOptions<typeof path>['query']>
  readonly chosen: boolean
  readonly onChoose: () => void
}

/** The number of decisions with this action; a click filters by it. */
export function Total({ action, query, chosen, onChoose }: TotalProps) {
  const { data, isError } = useGet(
    path,
    { query: { ...query, action, page_size: 1 } },
    { placeholderData: (before) => before, refetchInterval: REFRESH_MS },
  )
  const [word] = actionNames[action]
  return (
    <div className="bg-panel">
      <dt className="sr-only">{word}</dt>
      <dd>
        <button
          type="button"
          aria-pressed={chosen}
          onClick={onChoose}
          className="grid w-full px-4 py-3 text-left hover:bg-raised/60 focus-visible:-outline-offset-2 aria-pressed:bg-accent-soft"
        >
          <span className="text-xs text-muted first-letter:uppercase">{word}</span>
          <span className="text-xl font-semibold tracking-tight">
            {data === undefined ? (isError ? NOT_KNOWN : '…') : count(data.total)}
            {data?.total_exact === false && '+'}
          </span>
        </button>
      </dd>
    </div>
  )
}
