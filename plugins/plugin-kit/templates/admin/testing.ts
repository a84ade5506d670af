import { testAdminModule, testPlugin } from 'model-gateway/testing'
import plugin from './src/index.ts'

const notes = '/api/v1/admin/sample-name/notes'

testPlugin({ plugin })

testAdminModule({
  plugin,
  cases: [
    {
      name: 'the list is empty at first',
      method: 'GET',
      path: notes,
      status: 200,
      data: { items: [], total: 0 },
    },
    {
      name: 'a new note has its text and its author',
      method: 'POST',
      path: notes,
      body: { text: 'größer 海' },
      status: 201,
      data: { author: 'platform_admin@example.com', text: 'größer 海' },
    },
    {
      name: 'an empty note is rejected',
      method: 'POST',
      path: notes,
      body: { text: '' },
      status: 422,
      code: 'validation_failed',
    },
    {
      name: 'the note is in the list',
      method: 'GET',
      path: notes,
      status: 200,
      data: { total: 1 },
    },
    {
      name: 'the note can be deleted',
      method: 'DELETE',
      path: (answers) => `${notes}/${(answers[1] as { note_id: string }).note_id}`,
      status: 204,
    },
    {
      name: 'the list is empty again',
      method: 'GET',
      path: notes,
      status: 200,
      data: { total: 0 },
    },
  ],
})
