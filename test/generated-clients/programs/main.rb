# What a program does with the Ruby client of openapi-generator. It lies beside `lib`.
require 'fileutils'
require 'json'
require 'logger'
require 'uri'
$LOAD_PATH.unshift(File.join(__dir__, 'lib'))
require 'openapi_client'

def save(name, file)
  FileUtils.cp(file.path, File.join(ENV.fetch('SAVE_IN'), name))
end

def until_ended
  loop do
    status = yield
    return status unless %w[queued processing].include?(status)

    sleep 0.1
  end
end

OpenapiClient.configure do |configuration|
  address = URI(ENV.fetch('PLATEN_URL'))
  configuration.scheme = address.scheme
  configuration.host = "#{address.host}:#{address.port}"
  configuration.server_index = nil
  configuration.api_key['X-API-Key'] = ENV.fetch('PLATEN_API_KEY')
  configuration.timeout = 120
  configuration.logger = Logger.new($stderr)
end
rendering = OpenapiClient::RenderingApi.new
jobs = OpenapiClient::JobsApi.new
batches = OpenapiClient::BatchesApi.new

request = OpenapiClient::RenderRequest.new(html: '<p>Ruby</p>')
save('render.pdf', rendering.render_pdf(request))

request.execution_mode = 'async'
job_id = JSON.parse(File.read(rendering.render_pdf(request).path)).fetch('jobId')
puts "job #{until_ended { jobs.get_job(job_id).status }}"

# Of its own options the client would refuse it before the service does.
request.options = { scale: 9 }
begin
  # What returns a file loses the body of an error.
  rendering.render_pdf(request, debug_return_type: 'Object')
rescue OpenapiClient::ApiError => e
  error = JSON.parse(e.response_body)
  puts "error #{e.code} #{error['code']} #{error['message'].first}"
end

items = %w[a b].map { |id| OpenapiClient::BatchItemInput.new(id: id, html: "<p>#{id}</p>") }
batch_id = batches.create_batch(OpenapiClient::BatchRequest.new(items: items)).job_id
status = until_ended { batches.get_batch(batch_id).status }
save('batch.zip', batches.download_batch_zip(batch_id))
puts "batch #{status}"
