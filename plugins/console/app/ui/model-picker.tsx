import { useId, useState } from 'react'
import { useAll } from '@/api/query.ts'
import { Button } from '@/ui/button.tsx'
import { Checkbox, Input } from '@/ui/field.tsx'
import { Loaded } from '@/ui/page.tsx'

export interface ModelPickerProps {
  readonly label: string
  readonly value: readonly string[]
  readonly onChange: (models: readonly string[]) => void
}

/** Models and aliases of the config; a tag adds all the models that have it now. */
export function ModelPicker({ label, value, onChange }: ModelPickerProps) {
  const id = useId()
  const [search, setSearch] = useState('')
  const query = useAll('/api/v1/admin/models', {})
  const models = query.data?.items ?? []
  const tags = [...new Set(models.flatMap((model) => model.tags))].sort()
  const gone = value.filter((key) => !models.some(({ model_key }) => model_key === key))
  const shown = models.filter(({ model_key, tags: own }) =>
    [model_key, ...own].some((word) => word.toLowerCase().includes(search.trim().toLowerCase())),
  )
  const set = (key: string, on: boolean) =>
    onChange(on ? [...value, key] : value.filter((one) => one !== key))
  return (
    <fieldset className="grid gap-2" aria-describedby={`${id}-note`}>
      <legend className="mb-1 text-xs font-medium">{label}</legend>
      <div className="flex flex-wrap items-center gap-1.5">
        <Input
          type="search"
          aria-label="Search models"
          placeholder="Model or tag"
          className="w-40"
          value={search}
          onChange={({ target }) => setSearch(target.value)}
        />
        {tags.map((tag) => (
          <Button
            key={tag}
            size="sm"
            onClick={() => {
              const tagged = models.filter((model) => model.tags.includes(tag))
              onChange([...new Set([...value, ...tagged.map(({ model_key }) => model_key)])])
            }}
          >
            + tag {tag}
          </Button>
        ))}
      </div>
      <Loaded query={query}>
        {() => (
          <ul className="grid max-h-44 gap-1.5 overflow-auto rounded-md border border-line p-2 sm:grid-cols-2">
            {shown.map(({ model_key, alias_of }) => (
              <li key={model_key} className="min-w-0">
                <Checkbox
                  label={alias_of === null ? model_key : `${model_key} (alias of ${alias_of})`}
                  checked={value.includes(model_key)}
                  onChange={({ target }) => set(model_key, target.checked)}
                />
              </li>
            ))}
            {gone.map((key) => (
              <li key={key}>
                <Checkbox
                  label={`${key} (not in the config any more)`}
                  checked
                  onChange={() => set(key, false)}
                />
              </li>
            ))}
            {shown.length + gone.length === 0 && (
              <li className="text-muted">
                {models.length === 0 ? 'The config has no models' : 'No model matches'}
              </li>
            )}
          </ul>
        )}
      </Loaded>
      <p id={`${id}-note`} className="text-xs text-muted">
        {value.length} chosen. A tag adds the models that have it now, not those that get it later.
      </p>
    </fieldset>
  )
}
