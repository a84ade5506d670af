import { type AdminRoute, adminRoute, listOf, pageOf, pageQuery } from 'model-gateway/admin'
import { GatewayError, strictObject, Type } from 'model-gateway/plugin'
import type { Store } from './store.ts'

const NoteView = Type.Object({
  note_id: Type.String({ format: 'uuid' }),
  author: Type.String({ description: 'Email address of the author' }),
  text: Type.String(),
  created_at: Type.String({ format: 'date-time' }),
})

/** The gateway checks audience, origin and schemas before `handle` is called. */
export function sampleNameRoutes(store: Store): AdminRoute[] {
  const shared = { audience: 'platform_admin', tag: 'sample-name' } as const
  return [
    adminRoute({
      ...shared,
      method: 'GET',
      path: '/api/v1/admin/sample-name/notes',
      summary: 'List notes, newest first.',
      query: strictObject(pageQuery),
      result: listOf(NoteView),
      async handle({ query }) {
        const { offset, ...page } = pageOf(query)
        return { ...(await store.list(offset, page.page_size)), ...page }
      },
    }),
    adminRoute({
      ...shared,
      method: 'POST',
      path: '/api/v1/admin/sample-name/notes',
      summary: 'Create a note.',
      body: strictObject({ text: Type.String({ minLength: 1, maxLength: 1000 }) }),
      status: 201,
      result: NoteView,
      handle: ({ caller, body }) => store.add(caller.email, body.text),
    }),
    adminRoute({
      ...shared,
      method: 'DELETE',
      path: '/api/v1/admin/sample-name/notes/{note_id}',
      summary: 'Delete a note.',
      params: Type.Object({
        note_id: Type.String({ pattern: '^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$' }),
      }),
      status: 204,
      result: Type.Null(),
      async handle({ params }) {
        if (await store.remove(params.note_id)) return null
        throw new GatewayError('not_found', 'no note has this id')
      },
    }),
  ]
}
