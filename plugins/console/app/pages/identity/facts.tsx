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

/** The properties of a user, team or service account, and whether the config file declares it. */
export function Facts({ of, rows }: FactsProps) {
  return (
    <FactList
      rows={[
        ...rows,
        ['Models', accessText(of.model_access)],
        [
          'Source',
          of.from_config
            ? 'config file. Fields changed here no longer follow it'
            : 'console or API',
        ],
        ['Created', dateTime(of.created_at)],
        ['Updated', dateTime(of.updated_at)],
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
