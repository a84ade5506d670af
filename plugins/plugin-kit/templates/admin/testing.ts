import { testAdminModule, testPlugin } from 'model-gateway/testing'
import plugin from './src/index.ts'

const notes = '/api/v1/admin/sample-name/notes'

testPlugin({ plugin })

testAdminModule({
  plugin,
  cases: [
    {
      name: 'there are no notes',
      method: 'GET',
      path: notes,
      status: 200,
      data: { items: [], total: 0 },
    },
    {
      name: 'a note keeps what it says and who said it',
      method: 'POST',
      path: notes,
      body: { text: 'größer 海' },
      status: 201,
      data: { author: 'platform_admin@example.com', text: 'größer 海' },
    },
    {
      name: 'an empty note is refused',
      method: 'POST',
      path: notes,
      body: { text: '' },
      status: 422,
      code: 'validation_failed',
    },
    { name: 'it is in the list', method: 'GET', path: notes, status: 200, data: { total: 1 } },
    {
      name: 'and can be removed',
      method: 'DELETE',
      path: (answers) => `${notes}/${(answers[1] as { note_id: string }).note_id}`,
      status: 204,
    },
    { name: 'once', method: 'GET', path: notes, status: 200, data: { total: 0 } },
  ],
})
