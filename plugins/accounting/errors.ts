import { defineErrors } from 'model-gateway/plugin'

export const errors = defineErrors({
  budget_exceeded: {
    status: 429,
    type: 'budget_error',
    when: 'a hard limit of a budget is used up; running streams end too',
    fix: 'wait until `window_end`, or an admin raises the limit',
  },
  service_account_budget_required: {
    status: 403,
    type: 'permission_error',
    when: 'the service account has no active budget',
    fix: 'an admin gives it a budget',
  },
})
