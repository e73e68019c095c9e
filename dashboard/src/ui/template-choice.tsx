import { useQuery } from '@tanstack/react-query';
import { api, call } from '../api.ts';
import { Select } from './field.tsx';

/** A choice among the templates of the account. */
export function TemplateChoice({ value, onChange }: { value: string; onChange: (id: string) => void }) {
  const templates = useQuery({
    queryKey: ['templates', 'choice'],
    queryFn: () => call(api.GET('/user/templates', { params: { query: { view: 'summary', limit: 100 } } })),
  });
  const choices = templates.data?.templates ?? [];
  return (
    <Select
      label="Template"
      value={value}
      options={[
        ['', choices.length === 0 ? 'No templates yet' : 'Choose a template'],
        ...choices.map(({ id, name }) => [id, name] as const),
      ]}
      onChange={onChange}
    />
  );
}
