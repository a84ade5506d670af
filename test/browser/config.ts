/** The gateway of browser tests: a priced model, one without a price, and failures on demand. */
export const browserConfig = {
  providers: [
    {
      id: 'simulator',
      type: 'simulator',
      pricing_provider_id: 'simulator',
      latency_ms: 5,
      faults: [{ match: 'please fail', kind: 'error_status', status: 503 }],
    },
  ],
  models: [
    {
      id: 'demo',
      description: 'Made-up replies',
      tags: ['chat'],
      routes: [{ provider: 'simulator', upstream_model: 'simulator-1' }],
    },
    {
      id: 'no-price',
      routes: [{ provider: 'simulator', upstream_model: 'simulator-free' }],
    },
  ],
  pricing: {
    overrides: [
      {
        pricing_provider_id: 'simulator',
        model: 'simulator-1',
        input_usd_per_million: '1',
        output_usd_per_million: '3',
      },
    ],
  },
}
