import { useState } from 'react'
import { useGet } from '@/api/query.ts'
import { foundOf, Picker } from '@/ui/picker.tsx'

const SHOWN = 12

export interface KeyFilterProps {
  /** The ID of a key; '': any. */
  readonly value: string
  readonly onChange: (id: string) => void
}

/** A filter for an API key by name; the URL and the API use the ID. */
export function KeyFilter({ value, onChange }: KeyFilterProps) {
  const [search, setSearch] = useState('')
  const found = useGet(
    '/api/v1/admin/api-keys',
    { query: { search: search.trim(), page_size: SHOWN } },
    { placeholderData: (before) => before },
  )
  const chosen = useGet(
    '/api/v1/admin/api-keys/{api_key_id}',
    { path: { api_key_id: value } },
    { enabled: value !== '' },
  )
  const name = chosen.data?.name ?? (chosen.isError ? 'deleted key' : '…')
  return (
    <Picker
      label="API key"
      className="w-44"
      chosen={value === '' ? '' : name}
      choices={(found.data?.items ?? []).map(({ api_key_id, name, owner }) => ({
        key: api_key_id,
        label: name,
        note: owner.name,
      }))}
      found={foundOf([found])}
      onSearch={setSearch}
      onChoose={(id) => onChange(id ?? '')}
    />
  )
}
