import type { ReactNode } from 'react'
import { dateTime } from '@/lib/format.ts'
import { accessText, type ModelAccess } from '@/pages/identity/words.tsx'

export interface FactsProps {
  readonly of: {
    readonly model_access: ModelAccess
    readonly from_config: boolean
    readonly created_at: string
    readonly updated_at: string
  }
  readonly rows: readonly (readonly [label: string, value: ReactNode])[]
}

/** What is known of somebody, and whether the config file has a say in it. */
export function Facts({ of, rows }: FactsProps) {
  return (
    <FactList
      rows={[
        ...rows,
        ['May use', accessText(of.model_access)],
        [
          'From',
          of.from_config
            ? 'the config file, which has no say any more in what is changed here'
            : 'this console or the API',
        ],
        ['Made', dateTime(of.created_at)],
        ['Changed', dateTime(of.updated_at)],
      ]}
    />
  )
}

export function FactList({ rows }: Pick<FactsProps, 'rows'>) {
  return (
    <dl className="grid grid-cols-[7rem_minmax(0,1fr)] gap-y-1.5">
      {rows.map(([label, value]) => (
        <div key={label} className="contents">
          <dt className="text-muted">{label}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  )
}
