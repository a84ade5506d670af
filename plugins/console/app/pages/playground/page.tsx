import { useState } from 'react'
import { Caller } from '@/pages/playground/caller.tsx'
import { type Form, usual } from '@/pages/playground/form.ts'
import { FormFields } from '@/pages/playground/form-fields.tsx'
import { Reply } from '@/pages/playground/reply.tsx'
import { useCall } from '@/pages/playground/use-call.ts'
import { Card } from '@/ui/card.tsx'
import { Page } from '@/ui/page.tsx'

/** A call of a model as a client makes it, with what the gateway records. */
export default function Playground() {
  // The key is kept only here, not in the URL, a store or the query cache.
  const [key, setKey] = useState('')
  const [form, setForm] = useState<Form>(usual)
  const { run, send, stop } = useCall()
  const change = (changes: Partial<Form>) => setForm((before) => ({ ...before, ...changes }))
  return (
    <Page title="Playground" note="Try a model with an API key, and see what the gateway records">
      <div className="grid items-start gap-4 lg:grid-cols-2">
        <Card title="Call">
          <div className="grid gap-4">
            <Caller apiKey={key} onKey={setKey} form={form} change={change} />
            <FormFields
              form={form}
              change={change}
              ready={key !== '' && form.model !== ''}
              running={run?.state === 'running'}
              onSend={() => void send(form, key)}
              onStop={stop}
            />
          </div>
        </Card>
        <Reply
          run={run}
          form={form}
          onContinue={(text) =>
            change({
              messages: [
                ...form.messages,
                { role: 'assistant', content: text },
                { role: 'user', content: '' },
              ],
            })
          }
        />
      </div>
    </Page>
  )
}
