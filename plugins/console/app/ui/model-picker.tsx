import { useId, useState } from 'react'
import { useAll } from '@/api/query.ts'
import { covers, isWildcard } from '@/lib/wildcards.ts'
import { Button } from '@/ui/button.tsx'
import { Checkbox, Input } from '@/ui/field.tsx'
import { Loaded } from '@/ui/page.tsx'

export interface ModelPickerProps {
  readonly label: string
  readonly value: readonly string[]
  readonly onChange: (models: readonly string[]) => void
}

/**
 * A choice of models and aliases of the config. A tag adds all models that have it now. Names that
 * a wildcard covers, and name patterns, are typed in.
 */
export function ModelPicker({ label, value, onChange }: ModelPickerProps) {
  const id = useId()
  const [search, setSearch] = useState('')
  const query = useAll('/api/v1/admin/models', {})
  const models = query.data?.items ?? []
  const tags = [...new Set(models.flatMap((model) => model.tags))].sort()
  const others = value.filter((key) => !models.some(({ model_key }) => model_key === key))
  const typed = search.trim()
  const canAdd =
    typed !== '' &&
    !value.includes(typed) &&
    (isWildcard(typed) || isCovered(typed)) &&
    !models.some(({ model_key }) => model_key === typed)
  function isCovered(name: string): boolean {
    return models.some(({ model_key }) => covers(model_key, name))
  }
  const shown = models.filter(({ model_key, tags: own }) =>
    [model_key, ...own].some((word) => word.toLowerCase().includes(typed.toLowerCase())),
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
          list={`${id}-names`}
          value={search}
          onChange={({ target }) => setSearch(target.value)}
        />
        <datalist id={`${id}-names`}>
          {models.flatMap(({ names }) => names.map((name) => <option key={name} value={name} />))}
        </datalist>
        {canAdd && (
          <Button
            size="sm"
            onClick={() => {
              set(typed, true)
              setSearch('')
            }}
          >
            + {typed}
          </Button>
        )}
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
            {others.map((key) => (
              <li key={key} className="min-w-0">
                <Checkbox
                  label={
                    isWildcard(key) || isCovered(key) ? key : `${key} (no longer in the config)`
                  }
                  checked
                  onChange={() => set(key, false)}
                />
              </li>
            ))}
            {shown.length + others.length === 0 && (
              <li className="text-muted">
                {models.length === 0 ? 'No models in the config' : 'No matching models'}
              </li>
            )}
          </ul>
        )}
      </Loaded>
      <p id={`${id}-note`} className="text-xs text-muted">
        {value.length} selected. A tag adds the models that have it now, not models that get it
        later. For models behind a wildcard, type a name or a pattern such as openai/*.
      </p>
    </fieldset>
  )
}
