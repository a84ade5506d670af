import type { ModelAccess } from '@/pages/identity/words.tsx'
import { Field, Select } from '@/ui/field.tsx'
import { ModelPicker } from '@/ui/model-picker.tsx'

export interface ModelAccessFieldProps {
  readonly value: ModelAccess
  readonly onChange: (access: ModelAccess) => void
}

/** A choice between all models and selected models. */
export function ModelAccessField({ value, onChange }: ModelAccessFieldProps) {
  return (
    <>
      <Field
        label="Model access"
        hint="A call must be allowed by the key, the owner, the owner’s team and the model’s allowlist"
      >
        {(control) => (
          <Select
            {...control}
            value={value.mode}
            onChange={({ target }) =>
              onChange({ mode: target.value as ModelAccess['mode'], models: [] })
            }
          >
            <option value="all">All models</option>
            <option value="restricted">Selected models</option>
          </Select>
        )}
      </Field>
      {value.mode === 'restricted' && (
        <ModelPicker
          label="Models"
          value={value.models}
          onChange={(models) => onChange({ mode: 'restricted', models: [...models] })}
        />
      )}
    </>
  )
}
