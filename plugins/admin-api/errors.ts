import { defineErrors } from 'model-gateway/plugin'

export const errors = defineErrors({
  session_required: {
    status: 401,
    type: 'authentication_error',
    when: 'the control plane needs a signed-in user',
    fix: 'sign in at `POST /api/v1/auth/login`',
  },
  insufficient_privileges: {
    status: 403,
    type: 'permission_error',
    when: 'the route is for others, such as platform admins',
    fix: 'ask a platform admin',
  },
})
