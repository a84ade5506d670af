import { Plus, Send, Square, X } from 'lucide-react'
import { type Form, type Message, surfaces } from '@/pages/playground/form.ts'
import { Button } from '@/ui/button.tsx'
import { Checkbox, Field, Input, Textarea } from '@/ui/field.tsx'
import { Segments } from '@/ui/tabs.tsx'

export interface FormFieldsProps {
  readonly form: Form
  readonly change: (changes: Partial<Form>) => void
  /** Whether a key and a model are chosen. */
  readonly ready: boolean
  readonly running: boolean
  readonly onSend: () => void
  readonly onStop: () => void
}

/** The messages and settings of the call. Ctrl+Enter sends it. */
export function FormFields({ form, change, ready, running, onSend, onStop }: FormFieldsProps) {
  const { messages } = form
  const sendable = ready && !running && messages.some(({ content }) => content !== '')
  const replace = (index: number, next: Message | undefined) =>
    change({
      messages: messages.flatMap((one, n) =>
        n !== index ? [one] : next === undefined ? [] : [next],
      ),
    })
  return (
    <form
      className="grid gap-4"
      onSubmit={(event) => {
        event.preventDefault()
        if (sendable) onSend()
      }}
      onKeyDown={(event) => {
        if (event.key === 'Enter' && (event.ctrlKey || event.metaKey) && sendable) onSend()
      }}
    >
      <div className="flex flex-wrap items-center gap-3">
        <Segments
          label="API"
          options={surfaces}
          value={form.surface}
          onChange={(surface) => change({ surface })}
        />
        <Checkbox
          label="Stream"
          checked={form.stream}
          onChange={({ target }) => change({ stream: target.checked })}
        />
      </div>
      <Field label="System">
        {(control) => (
          <Textarea
            {...control}
            className="min-h-14"
            placeholder="Instructions for the model (optional)"
            value={form.system}
            onChange={({ target }) => change({ system: target.value })}
          />
        )}
      </Field>
      {messages.map((message, index) => (
        <div
          // biome-ignore lint/suspicious/noArrayIndexKey: a turn is its place in the conversation
          key={index}
          className="flex items-start gap-2"
        >
          <Field
            label={`${message.role === 'user' ? 'User' : 'Assistant'}${messages.length > 1 ? ` ${index + 1}` : ''}`}
            className="flex-1"
          >
            {(control) => (
              <Textarea
                {...control}
                placeholder={message.role === 'user' ? 'Enter a message' : 'Reply of the model'}
                value={message.content}
                onChange={({ target }) => replace(index, { ...message, content: target.value })}
              />
            )}
          </Field>
          {messages.length > 1 && (
            <Button
              kind="ghost"
              size="icon-sm"
              className="mt-5"
              aria-label={`Remove message ${index + 1}`}
              onClick={() => replace(index, undefined)}
            >
              <X />
            </Button>
          )}
        </div>
      ))}
      <div>
        <Button
          size="sm"
          onClick={() =>
            change({
              messages: [
                ...messages,
                { role: messages.at(-1)?.role === 'user' ? 'assistant' : 'user', content: '' },
              ],
            })
          }
        >
          <Plus aria-hidden />
          Add message
        </Button>
      </div>
      <div className="grid gap-3 sm:grid-cols-3">
        <NumberField
          label="Max tokens"
          value={form.maxTokens}
          onChange={(maxTokens) => change({ maxTokens })}
          min={1}
        />
        <NumberField
          label="Temperature"
          value={form.temperature}
          onChange={(temperature) => change({ temperature })}
          min={0}
          step="any"
        />
        <NumberField
          label="Top P"
          value={form.topP}
          onChange={(topP) => change({ topP })}
          min={0}
          step="any"
        />
      </div>
      <div className="flex items-center gap-3">
        <Button type="submit" kind="primary" disabled={!sendable}>
          <Send aria-hidden />
          Send
        </Button>
        <Button disabled={!running} onClick={onStop}>
          <Square aria-hidden />
          Stop
        </Button>
        <span className="text-xs text-muted">Ctrl+Enter</span>
      </div>
    </form>
  )
}

interface NumberFieldProps {
  readonly label: string
  readonly value: string
  readonly onChange: (value: string) => void
  readonly min: number
  /** Default: whole numbers. */
  readonly step?: 'any'
}

function NumberField({ label, value, onChange, min, step }: NumberFieldProps) {
  return (
    <Field label={label}>
      {(control) => (
        <Input
          {...control}
          type="number"
          min={min}
          step={step}
          placeholder="default"
          value={value}
          onChange={({ target }) => onChange(target.value)}
        />
      )}
    </Field>
  )
}
