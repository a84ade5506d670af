import { useEffect, useRef, useState } from 'react'
import { pathOf } from '@/lib/curl.ts'
import { callGateway, type Progress } from '@/pages/playground/call.ts'
import { bodyOf, type Form } from '@/pages/playground/form.ts'

export interface Run extends Progress {
  readonly state: 'running' | 'done' | 'stopped'
  readonly latencyMs?: number
}

/** Makes one call at a time and holds its progress. */
export function useCall() {
  const [run, setRun] = useState<Run>()
  const stopper = useRef<AbortController>(undefined)
  useEffect(() => () => stopper.current?.abort(), [])

  async function send(form: Form, key: string): Promise<void> {
    stopper.current?.abort()
    const stop = new AbortController()
    stopper.current = stop
    const began = performance.now()
    let latest: Progress = { text: '', events: 0 }
    const show = (progress: Progress, state: Run['state']) => {
      latest = progress
      if (stopper.current !== stop) return
      const ended = state !== 'running' && { latencyMs: performance.now() - began }
      setRun({ ...progress, state, ...ended })
    }
    show(latest, 'running')
    try {
      const progress = await callGateway({
        path: pathOf(form.surface),
        key,
        body: bodyOf(form),
        signal: stop.signal,
        onProgress: (next) => show(next, 'running'),
      })
      show(progress, 'done')
    } catch {
      if (stop.signal.aborted) return show(latest, 'stopped')
      const error = { code: 'unreachable', message: 'The connection to the gateway was lost.' }
      show({ ...latest, error }, 'done')
    }
  }

  return { run, send, stop: () => stopper.current?.abort() }
}
