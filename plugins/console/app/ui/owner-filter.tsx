import { type Owner, OwnerPicker } from '@/ui/owner-picker.tsx'

const names = { user: 'user_id', service_account: 'service_account_id', team: 'team_id' } as const
type Ids = { readonly [K in (typeof names)[Owner['kind']]]?: string }

/** The owner that the filters of a page name. */
export function ownerOf(ids: Ids): Owner | undefined {
  for (const kind of ['user', 'service_account', 'team'] as const) {
    const id = ids[names[kind]]
    if (id !== undefined && id !== '') return { kind, id }
  }
  return undefined
}

export interface OwnerFilterProps {
  readonly label: string
  /** Must be stable between renders: declared outside the component. */
  readonly kinds: readonly Owner['kind'][]
  /** All filters of the page. */
  readonly values: Ids
  readonly change: (ids: Ids) => void
}

/** A filter for an owner by name; the URL and the API use the ID. */
export function OwnerFilter({ label, kinds, values, change }: OwnerFilterProps) {
  return (
    <OwnerPicker
      label={label}
      kinds={kinds}
      className="w-52"
      value={ownerOf(values)}
      onChange={(owner) =>
        change(
          Object.fromEntries(
            kinds.map((kind) => [names[kind], owner?.kind === kind ? owner.id : '']),
          ),
        )
      }
    />
  )
}
