import { type Owner, OwnerPicker } from '@/ui/owner-picker.tsx'

const names = { user: 'user_id', service_account: 'service_account_id', team: 'team_id' } as const
type Ids = { readonly [K in (typeof names)[Owner['kind']]]?: string }

/** Whom the filters of a page name. */
export function ownerOf(ids: Ids): Owner | undefined {
  for (const kind of ['user', 'service_account', 'team'] as const) {
    const id = ids[names[kind]]
    if (id !== undefined && id !== '') return { kind, id }
  }
  return undefined
}

export interface OwnerFilterProps {
  readonly label: string
  /** Stable: outside of the component. */
  readonly kinds: readonly Owner['kind'][]
  /** The filters of the page, those of others among them. */
  readonly values: Ids
  readonly change: (ids: Ids) => void
}

/** Somebody by name; the URL and the API have the id. */
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
