import { useMutation } from '@tanstack/react-query'
import { type ReactNode, useState } from 'react'
import { Button } from '@/ui/button.tsx'
import { Confirm } from '@/ui/confirm.tsx'
import { toast } from '@/ui/toast.tsx'

export interface DoButtonProps {
  /** The verb: `Disable`. */
  readonly action: string
  /** The question. */
  readonly title: string
  readonly consequence: ReactNode
  readonly done: string
  readonly act: () => Promise<unknown>
  /** Refetches everything that shows the changed data. */
  readonly invalidate: () => Promise<void>
  readonly onDone?: () => void
}

/** A button that asks for confirmation, runs an action and refetches the data that it changes. */
export function DoButton(props: DoButtonProps) {
  const { action, title, consequence, done, act, invalidate, onDone } = props
  const [asking, setAsking] = useState(false)
  const change = useMutation({
    mutationFn: act,
    async onSuccess() {
      setAsking(false)
      toast(done)
      await invalidate()
      onDone?.()
    },
  })
  return (
    <>
      <Button
        size="sm"
        onClick={() => {
          change.reset()
          setAsking(true)
        }}
      >
        {action}
      </Button>
      <Confirm
        open={asking}
        onClose={() => setAsking(false)}
        onConfirm={() => change.mutate()}
        title={title}
        consequence={consequence}
        action={action}
        busy={change.isPending}
        error={change.error}
      />
    </>
  )
}
