import type { JsonObject } from '../plugin/json.ts'
import type { Usage } from '../plugin/usage.ts'

interface Row {
  readonly seller: string
  /** Where the members are described, or a reply is on record. */
  readonly see: string
  /** The part of the reply that reports usage. */
  readonly reply: JsonObject
  readonly used: Partial<Usage>
}

const docs = 'https://github.com/vercel/ai/blob/ed857f50f112/packages'

export const chat: readonly Row[] = [
  {
    seller: 'OpenAI, a prediction and sound',
    see: 'https://platform.openai.com/docs/api-reference/chat/object',
    reply: {
      service_tier: 'priority',
      usage: {
        prompt_tokens: 120,
        completion_tokens: 90,
        total_tokens: 210,
        prompt_tokens_details: { cached_tokens: 40, audio_tokens: 30 },
        completion_tokens_details: {
          reasoning_tokens: 10,
          audio_tokens: 50,
          accepted_prediction_tokens: 4,
          rejected_prediction_tokens: 6,
        },
      },
    },
    used: {
      uncachedInput: 80,
      cacheRead: 40,
      output: 90,
      parts: { input_audio: 30, output_audio: 50 },
      tier: 'priority',
    },
  },
  {
    seller: 'OpenAI, a model that searches for every call',
    see: 'https://platform.openai.com/docs/pricing',
    reply: {
      model: 'gpt-4o-search-preview-2025-03-11',
      usage: { prompt_tokens: 10, completion_tokens: 90, total_tokens: 100 },
    },
    used: { uncachedInput: 10, output: 90, uses: { web_search: 1 } },
  },
  {
    seller: 'DeepSeek',
    see: 'https://api-docs.deepseek.com/guides/kv_cache',
    reply: {
      usage: {
        prompt_tokens: 495,
        completion_tokens: 144,
        total_tokens: 639,
        prompt_cache_hit_tokens: 320,
        prompt_cache_miss_tokens: 175,
      },
    },
    used: { uncachedInput: 175, cacheRead: 320, output: 144 },
  },
  {
    seller: 'Moonshot, Together: cached tokens at the top',
    see: `${docs}/moonshotai/src/__fixtures__/moonshotai-reasoning.json`,
    reply: {
      usage: {
        prompt_tokens: 20,
        completion_tokens: 30,
        total_tokens: 50,
        cached_tokens: 10,
        completion_tokens_details: { reasoning_tokens: 22 },
      },
    },
    used: { uncachedInput: 10, cacheRead: 10, output: 30, reasoning: 22 },
  },
  {
    seller: 'Mistral, which counts seconds of sound',
    see: `${docs}/mistral/src/convert-mistral-usage.ts`,
    reply: {
      usage: {
        prompt_tokens: 100,
        completion_tokens: 5,
        total_tokens: 105,
        num_cached_tokens: 64,
        prompt_audio_seconds: 36,
      },
    },
    used: { uncachedInput: 36, cacheRead: 64, uses: { audio_second: 36 } },
  },
  {
    seller: 'Mistral, without sound',
    see: 'https://docs.mistral.ai/api',
    reply: {
      usage: {
        prompt_tokens: 171,
        completion_tokens: 14,
        total_tokens: 185,
        prompt_tokens_details: { cached_tokens: 128 },
        prompt_audio_seconds: {},
      },
    },
    used: { uncachedInput: 43, cacheRead: 128 },
  },
  {
    seller: 'Groq',
    see: `${docs}/groq/src/__fixtures__/groq-reasoning.json`,
    reply: {
      service_tier: 'on_demand',
      usage: {
        queue_time: 0.17,
        prompt_tokens: 17,
        prompt_time: 0.0008,
        completion_tokens: 1107,
        total_tokens: 1124,
        completion_tokens_details: { reasoning_tokens: 963 },
      },
      x_groq: { id: 'req_1' },
    },
    used: { uncachedInput: 17, output: 1107, reasoning: 963, tier: 'default' },
  },
  {
    seller: 'xAI, which counts reasoning in addition to the completion',
    see: 'https://docs.x.ai/developers/cost-tracking',
    reply: {
      usage: {
        prompt_tokens: 12,
        completion_tokens: 2,
        total_tokens: 354,
        prompt_tokens_details: {
          text_tokens: 12,
          audio_tokens: 0,
          image_tokens: 0,
          cached_tokens: 11,
        },
        completion_tokens_details: { reasoning_tokens: 340, audio_tokens: 0 },
        num_sources_used: 3,
        cost_in_usd_ticks: 1_721_250,
      },
    },
    used: {
      uncachedInput: 1,
      cacheRead: 11,
      output: 342,
      uses: { source: 3 },
      statedUsd: ['1721250e-10'],
    },
  },
  {
    seller: 'Fireworks, Cohere and others that write as OpenAI does',
    see: 'https://docs.fireworks.ai/guides/prompt-caching',
    reply: {
      usage: {
        prompt_tokens: 60,
        completion_tokens: 5,
        total_tokens: 65,
        prompt_tokens_details: { cached_tokens: 32 },
      },
    },
    used: { uncachedInput: 28, cacheRead: 32, output: 5 },
  },
  {
    seller: 'Perplexity',
    see: 'https://docs.perplexity.ai/api-reference/chat-completions-post',
    reply: {
      usage: {
        prompt_tokens: 33,
        completion_tokens: 7395,
        total_tokens: 7428,
        search_context_size: 'low',
        citation_tokens: 19_028,
        num_search_queries: 18,
        cost: { input_tokens_cost: 0.001, request_cost: 0.005, total_cost: 0.8417 },
      },
    },
    used: {
      output: 7395,
      uses: { web_search: 18, citation_token: 19_028 },
      tier: 'search_context_size=low',
      statedUsd: ['0.8417'],
    },
  },
  {
    seller: 'OpenRouter',
    see: 'https://openrouter.ai/docs/use-cases/usage-accounting',
    reply: {
      usage: {
        prompt_tokens: 194,
        completion_tokens: 2,
        total_tokens: 196,
        prompt_tokens_details: { cached_tokens: 100, cache_write_tokens: 50, audio_tokens: 0 },
        cost: 0.00014,
        is_byok: false,
        cost_details: { upstream_inference_cost: 0.00014 },
      },
    },
    used: { uncachedInput: 44, cacheRead: 100, cacheWrite: 50, statedUsd: ['0.00014'] },
  },
  {
    seller: 'OpenRouter, with a customer key at the provider',
    see: 'https://openrouter.ai/docs/use-cases/byok',
    reply: {
      usage: {
        prompt_tokens: 194,
        completion_tokens: 2,
        cost: 0.95,
        is_byok: true,
        cost_details: { upstream_inference_cost: 19 },
      },
    },
    used: { output: 2, statedUsd: ['0.95', '19'] },
  },
  {
    seller: 'Alibaba, LiteLLM: caches as Claude has them, in the prompt',
    see: 'https://www.alibabacloud.com/help/en/model-studio/context-cache',
    reply: {
      usage: {
        prompt_tokens: 100,
        completion_tokens: 7,
        prompt_tokens_details: {
          cached_tokens: 30,
          cache_creation_input_tokens: 20,
          cache_creation: { ephemeral_5m_input_tokens: 15, ephemeral_1h_input_tokens: 5 },
        },
      },
    },
    used: { uncachedInput: 50, cacheRead: 30, cacheWrite: 20, cacheWriteHour: 5 },
  },
  {
    seller: 'vLLM, SGLang, llama.cpp',
    see: 'https://github.com/ggml-org/llama.cpp/blob/master/tools/server/README.md',
    reply: {
      usage: {
        prompt_tokens: 19,
        completion_tokens: 4,
        total_tokens: 23,
        prompt_tokens_details: null,
        reasoning_tokens: 0,
      },
      timings: { prompt_n: 19, cache_n: 12, predicted_n: 4 },
    },
    used: { uncachedInput: 19, output: 4 },
  },
]

export const responses: readonly Row[] = [
  {
    seller: 'OpenAI, with tools',
    see: 'https://platform.openai.com/docs/guides/tools-web-search',
    reply: {
      status: 'completed',
      service_tier: 'flex',
      output: [
        { type: 'web_search_call', action: { type: 'search', query: 'a' } },
        { type: 'web_search_call', action: { type: 'open_page', url: 'https://a.test' } },
        { type: 'web_search_call', action: { type: 'find_in_page', pattern: 'b' } },
        { type: 'web_search_call', status: 'completed' },
        { type: 'file_search_call', queries: ['a', 'b'] },
        { type: 'code_interpreter_call', container_id: 'cntr_1' },
        { type: 'code_interpreter_call', container_id: 'cntr_1' },
        {
          type: 'shell_call',
          environment: { type: 'container_reference', container_id: 'cntr_2' },
        },
        { type: 'shell_call', environment: { type: 'local' } },
        { type: 'image_generation_call', status: 'completed' },
        { type: 'function_call', name: 'mine' },
        { type: 'mcp_call', name: 'theirs' },
      ],
      usage: {
        input_tokens: 19_681,
        input_tokens_details: { cached_tokens: 3712 },
        output_tokens: 3773,
        output_tokens_details: { reasoning_tokens: 3136 },
        total_tokens: 23_454,
      },
    },
    used: {
      uncachedInput: 15_969,
      cacheRead: 3712,
      output: 3773,
      tier: 'flex',
      uses: { web_search: 2, file_search: 1, container: 2, image_generation: 1 },
    },
  },
  {
    seller: 'Perplexity',
    see: 'https://docs.perplexity.ai/api-reference/responses-post',
    reply: {
      status: 'completed',
      output: [{ type: 'search_results', results: [] }],
      usage: {
        input_tokens: 100,
        input_tokens_details: { cache_read_input_tokens: 60, cache_creation_input_tokens: 30 },
        output_tokens: 5,
        total_tokens: 105,
        tool_calls_details: { web_search: { invocation: 3 }, fetch_url: { invocation: 1 } },
        cost: { currency: 'USD', input_cost: 0.001, output_cost: 0.002, total_cost: 0.0105 },
      },
    },
    used: {
      ...{ uncachedInput: 10, cacheRead: 60, cacheWrite: 30, output: 5 },
      uses: { web_search: 3, fetch_url: 1 },
      statedUsd: ['0.0105'],
    },
  },
  {
    seller: 'xAI, which runs code in no container',
    see: `${docs}/xai/src/responses/__fixtures__/xai-code-execution-tool.1.json`,
    reply: {
      status: 'completed',
      output: [{ type: 'code_interpreter_call', status: 'completed' }],
      usage: { input_tokens: 10, output_tokens: 2, num_server_side_tools_used: 1 },
    },
    used: { uses: { code_execution: 1 } },
  },
  {
    seller: 'xAI, which counts tools by name',
    see: `${docs}/xai/src/responses/__fixtures__/xai-image-generation-tool.1.json`,
    reply: {
      status: 'completed',
      output: [{ type: 'web_search_call' }],
      usage: {
        input_tokens: 100,
        input_tokens_details: { cached_tokens: 20 },
        output_tokens: 50,
        total_tokens: 150,
        num_sources_used: 9,
        num_server_side_tools_used: 6,
        server_side_tool_usage_details: {
          web_search_calls: 2,
          x_search_calls: 0,
          code_interpreter_calls: 1,
          mcp_calls: 3,
        },
        cost_in_usd_ticks: 123_456,
      },
    },
    used: {
      uncachedInput: 80,
      uses: { web_search: 2, code_execution: 1, mcp: 3 },
      statedUsd: ['123456e-10'],
    },
  },
  {
    seller: 'xAI, which counts them together',
    see: `${docs}/xai/src/responses/__fixtures__/xai-code-execution-tool.1.json`,
    reply: {
      status: 'completed',
      output: [],
      usage: { input_tokens: 10, output_tokens: 2, num_server_side_tools_used: 6 },
    },
    used: { uses: { server_side_tool: 6 } },
  },
]

export const messages: readonly Row[] = [
  {
    seller: 'Anthropic',
    see: 'https://docs.claude.com/en/api/messages',
    reply: {
      usage: {
        input_tokens: 7451,
        cache_creation_input_tokens: 300,
        cache_read_input_tokens: 50,
        cache_creation: { ephemeral_5m_input_tokens: 100, ephemeral_1h_input_tokens: 200 },
        output_tokens: 521,
        service_tier: 'standard',
        inference_geo: 'not_available',
        server_tool_use: { web_search_requests: 2, web_fetch_requests: 1 },
      },
    },
    used: {
      uncachedInput: 7451,
      cacheRead: 50,
      cacheWrite: 300,
      cacheWriteHour: 200,
      output: 521,
      tier: 'default',
      uses: { web_search: 2, web_fetch: 1 },
    },
  },
  {
    seller: 'Anthropic, served where and as fast as it was asked for',
    see: 'https://docs.claude.com/en/build-with-claude/data-residency',
    reply: {
      usage: {
        input_tokens: 1,
        output_tokens: 1,
        service_tier: 'standard',
        speed: 'fast',
        inference_geo: 'us',
      },
    },
    used: { tier: 'default+speed=fast+inference_geo=us' },
  },
]
