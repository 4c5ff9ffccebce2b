# SPDX-License-Identifier: MIT OR Apache-2.0
# frozen_string_literal: true

require "fiddle"

# LTTng-UST events and USDT probes for Ruby, with nothing but its standard library.
#
#     provider = LTTngRuntime::Provider.new("shop")
#     sale = provider.event("sale", article: String, took: "u64 us")
#     sale.call("book", 12)
#
# Types are String, Integer (i64), Float (f64), or text as in lttng-runtime.h: "string group", "u64 us", "bool". The library is
# found where LTTNG_RUNTIME_LIBRARY says, beside this file, or on the loader's path.
#
# Declaring something wrong raises Error. An event that is declared raises ArgumentError for a wrong number of values, and
# nothing else: whether a session records it changes nothing for the program.
module LTTngRuntime
  # A provider or an event that cannot be declared; the message is one line.
  class Error < ArgumentError; end

  TYPES = { String => "string", Integer => "i64", Float => "f64" }.freeze
  NAME = /\A[A-Za-z_][A-Za-z0-9_]*\z/
  WORDS = /\A[a-z0-9]+(?: [a-z0-9]+)*\z/
  LONGEST = 65_535
  private_constant :TYPES, :NAME, :WORDS, :LONGEST

  # The library in C.
  module Library
    POINTER = Fiddle::TYPE_VOIDP
    SIZE = Fiddle::TYPE_SIZE_T
    FUNCTIONS = {
      open: [POINTER, [POINTER, POINTER, POINTER, SIZE]],
      add: [Fiddle::TYPE_INT, [POINTER, POINTER, POINTER, SIZE]],
      find: [POINTER, [POINTER, POINTER, POINTER, SIZE]],
      close: [Fiddle::TYPE_VOID, [POINTER]],
      free: [Fiddle::TYPE_VOID, [POINTER]],
      record: [Fiddle::TYPE_INT, [POINTER, POINTER, SIZE]],
      follow_forks: [Fiddle::TYPE_VOID, []]
    }.freeze

    # The functions, loaded when the first provider is opened.
    def self.functions
      @functions ||= begin
        beside = File.join(__dir__, "liblttng_runtime.so")
        path = ENV["LTTNG_RUNTIME_LIBRARY"] || (File.exist?(beside) ? beside : "liblttng_runtime.so")
        library = Fiddle.dlopen(path)
        FUNCTIONS.to_h do |name, (result, arguments)|
          [name, Fiddle::Function.new(library["lttng_runtime_#{name}"], arguments, result)]
        end
      end
    rescue Fiddle::DLError => error
      raise Error, "cannot load lttng-runtime: #{error.message}; set LTTNG_RUNTIME_LIBRARY"
    end

    # Calls what writes an error line, which becomes an Error.
    def self.call(name, *arguments)
      line = Fiddle::Pointer.malloc(1024, Fiddle::RUBY_FREE)
      line[0] = 0
      result = functions.fetch(name).call(*arguments, line, 1024)
      raise Error, line.to_s unless line.to_s.empty?

      result
    end
  end
  private_constant :Library

  # Lets children of fork record under their own process ID.
  def self.follow_forks
    Library.functions.fetch(:follow_forks).call
  end

  # A provider, open until it is closed or the program ends.
  class Provider
    attr_reader :name

    def initialize(name)
      @name = checked(name, "a provider")
      @pointer = Library.call(:open, @name, nil)
    end

    # Declares an event and returns it.
    def event(name, **fields)
      checked(name, "an event")
      words = fields.to_h { |field, kind| [checked(field, "a field"), words_of(name, field, kind)] }
      declared = words.map { |field, kind| "#{field}: #{kind}" }.join(", ")
      Library.call(:add, @pointer, "#{name}(#{declared})")
      Event.new(self, name.to_s, words.values, Library.call(:find, @pointer, name.to_s))
    end

    # Unregisters the events: they are recorded no more, and may still be called.
    def close
      Library.functions.fetch(:close).call(@pointer)
    end

    private

    # Nothing but a name, so that names never become declarations.
    def checked(name, what)
      return name.to_s if NAME.match?(name.to_s)

      raise Error, "#{name.inspect}: the name of #{what} has only ASCII letters, digits and _, and does not begin with a digit"
    end

    def words_of(event, field, kind)
      words = TYPES.fetch(kind, kind)
      return words if words.is_a?(String) && WORDS.match?(words)

      raise Error, "#{event}.#{field}: the type of a field is String, Integer, Float or text such as \"u64 us\", not #{kind.inspect}"
    end
  end

  # An event; calling it records it if a session or a tracer wants it.
  class Event
    attr_reader :name, :failed

    def initialize(provider, name, kinds, pointer)
      @provider = provider
      @name = name
      @kinds = kinds.map { |words| words[0] }
      @pointer = pointer
      @state = Fiddle::Pointer.new(pointer.to_i + 24, 8)
      @record = Library.functions.fetch(:record)
      @failed = 0
    end

    # Whether a session or a tracer wants the event.
    def enabled?
      @state[0, 8] != "\0\0\0\0\0\0\0\0"
    end

    def call(*values)
      raise ArgumentError, "#{@name} takes #{@kinds.size} values, got #{values.size}" if values.size != @kinds.size
      return unless enabled?

      begin
        # `values` keeps the texts, which the packed values point to.
        packed = @kinds.zip(values).map { |kind, value| pack(kind, value) }.join
        @record.call(@pointer, packed, values.size)
      rescue StandardError
        # A value of a wrong type, which is noticed only while a session records.
        @failed += 1
      end
      nil
    end

    private

    def pack(kind, value)
      case kind
      when "s"
        text = String.try_convert(value) or raise TypeError
        [2, [text.bytesize, LONGEST].min, Fiddle::Pointer[text].to_i].pack("LLQ")
      when "f"
        [1, 0, Float(value)].pack("LLd")
      else
        value = 1 if value == true
        value = 0 if value == false
        [0, 0, Integer(value) & 0xFFFFFFFFFFFFFFFF].pack("LLQ")
      end
    end
  end

  # Tracers of methods, in the spirit of ruby-static-tracing.
  module Tracer
    # Each call of a registered method is an event with the method's name and how long it took, also one that raises.
    #
    #     LTTngRuntime::Tracer::Latency.register(Shop, :buy, :sell)
    class Latency
      def self.register(klass, *methods, provider: nil)
        provider ||= Provider.new(klass.name.gsub(/\W+/, "_").downcase)
        methods.each do |name|
          event = provider.event(name.to_s.sub(/[?!=]\z/, ""), took: "u64 us duration")
          klass.prepend(wrapper(name, event))
        end
        provider
      end

      def self.wrapper(name, event)
        Module.new do
          define_method(name) do |*arguments, **named, &block|
            began = Process.clock_gettime(Process::CLOCK_MONOTONIC, :microsecond) if event.enabled?
            begin
              super(*arguments, **named, &block)
            ensure
              event.call(Process.clock_gettime(Process::CLOCK_MONOTONIC, :microsecond) - began) if began
            end
          end
        end
      end
      private_class_method :wrapper
    end
  end
end
