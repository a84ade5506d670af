import { defineErrors } from 'model-gateway/plugin'

export const errors = defineErrors({
  invalid_credentials: {
    status: 401,
    type: 'authentication_error',
    when: 'the e-mail or the password is wrong',
    fix: 'try again, or ask an admin for a new invitation',
  },
  too_many_attempts: {
    status: 429,
    type: 'authentication_error',
    when: 'too many failed sign-ins',
    fix: 'wait for the seconds of `retry-after`',
  },
})
